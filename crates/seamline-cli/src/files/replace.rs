//! Replacing a file so that at every moment either the old bytes or the new ones are there.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{hash, write_pieces};
use crate::failure::Failure;

/// A file that is to be replaced, found by following links.
#[derive(Debug)]
pub(crate) struct Target {
    /// Where the bytes really are.
    pub(crate) path: PathBuf,
    metadata: Metadata,
}

impl Target {
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::io("write", &error);
        let metadata = path.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Failure::new("not a regular file, so it cannot be replaced")
                .with_hint("`--stdout` or `--output FILE` writes the body elsewhere"));
        }
        let path = path.canonicalize().map_err(failed)?;
        // A rename would pass over a file's own protection against writing.
        OpenOptions::new().write(true).open(&path).map_err(failed)?;
        Ok(Self { path, metadata })
    }

    /// Puts `pieces` in place of a file whose bytes have the hash `before`. The mode and, as
    /// far as we may, the owner stay.
    pub(crate) fn replace(&self, before: &str, pieces: &[&[u8]]) -> Result<(), Failure> {
        let draft = Draft::write(&self.path, pieces, Access::Owner)?;
        self.keep_owner(&draft);
        let kept = draft.file.as_file().set_permissions(self.metadata.permissions());
        kept.map_err(|error| Failure::io("keep the mode of the file", &error))?;
        // As late as possible: a process that writes between this check and the rename would lose its change.
        let now = std::fs::read(&self.path).map_err(|error| Failure::io("read it again", &error))?;
        if hash(&now) != before {
            return Err(changed());
        }
        draft.publish(&self.path)
    }

    #[cfg(unix)]
    fn keep_owner(&self, draft: &Draft) {
        use std::os::unix::fs::MetadataExt as _;
        // Only root may give files away; everybody else keeps what he has.
        let _ = std::os::unix::fs::fchown(draft.file.as_file(), Some(self.metadata.uid()), Some(self.metadata.gid()));
    }

    #[cfg(not(unix))]
    fn keep_owner(&self, _: &Draft) {}
}

fn changed() -> Failure {
    Failure::new("the file changed while it was being repaired; it was left as it is now")
        .with_hint("run the command again")
}

/// Writes a file that need not exist yet. Pipes and devices are written to as they are.
pub(crate) fn write(path: &Path, pieces: &[&[u8]]) -> Result<(), Failure> {
    write_for(Access::Usual, path, pieces)
}

/// As [`write`], for its owner only where the file is new.
pub(crate) fn write_private(path: &Path, pieces: &[&[u8]]) -> Result<(), Failure> {
    write_for(Access::Owner, path, pieces)
}

fn write_for(access: Access, path: &Path, pieces: &[&[u8]]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::io("write", &error);
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => {
            let target = path.canonicalize().map_err(failed)?;
            let draft = Draft::write(&target, pieces, Access::Owner)?;
            draft.file.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
            draft.publish(&target)
        }
        Ok(_) => {
            let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            write_pieces(&mut file, pieces).map_err(failed)
        }
        Err(_) => Draft::write(path, pieces, access)?.publish(path),
    }
}

/// Who may read a draft.
#[derive(Clone, Copy)]
enum Access {
    /// Its owner; a file that is replaced gives it its mode.
    Owner,
    /// The default mode of new files.
    Usual,
}

/// A file beside the one that it replaces. Dropping it removes it.
struct Draft {
    file: NamedTempFile,
}

impl Draft {
    fn write(target: &Path, pieces: &[&[u8]], access: Access) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::io("write beside the file", &error);
        let mut file = create(target, access).map_err(failed)?;
        write_pieces(file.as_file_mut(), pieces).map_err(failed)?;
        Ok(Self { file })
    }

    /// Renames the draft to `target` once its bytes are on the disk.
    fn publish(self, target: &Path) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::io("write", &error);
        self.file.as_file().sync_all().map_err(failed)?;
        self.file.persist(target).map_err(|error| failed(error.error))?;
        // The new bytes are there, so it did not fail. Where the folder cannot be synced, as in
        // one that may be written to and not read, a loss of power may bring the old ones back.
        let _ = sync_folder(target);
        Ok(())
    }
}

/// Creates a file in the folder of `target`.
fn create(target: &Path, access: Access) -> std::io::Result<NamedTempFile> {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".seamline");
    #[cfg(unix)]
    if matches!(access, Access::Usual) {
        // The system takes away what the umask denies.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    builder.tempfile_in(folder(target))
}

/// Makes a rename in a file's folder durable.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    // Folders can be opened and synced on Unix only; elsewhere a rename is all there is.
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("body.json");
        std::fs::write(&path, "as read").unwrap();
        let target = Target::of(&path).unwrap();
        std::fs::write(&path, "by another process").unwrap();
        assert_eq!(target.replace(&hash(b"as read"), &[b"rep", b"aired"]), Err(changed()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "by another process");
        assert_eq!(target.replace(&hash(b"by another process"), &[b"rep", b"aired"]), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "repaired");
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["body.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_usual_mode_and_a_private_one_has_not() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let (usual, private, plain) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
        write(&usual, &[b"a"]).unwrap();
        write_private(&private, &[b"b"]).unwrap();
        std::fs::write(&plain, "c").unwrap();
        assert_eq!((mode(&usual), mode(&private)), (mode(&plain), 0o600));
        std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_private(&private, &[b"again"]).unwrap();
        assert_eq!((mode(&private), std::fs::read(&private).unwrap()), (0o640, b"again".to_vec()));
    }
}
