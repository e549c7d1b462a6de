//! Atomic replacement of a file: at every moment it has either the old bytes or the new ones.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::times::Times;
use super::{drafts, hash, write_pieces};
use crate::failure::Failure;

/// A file to replace, with links followed.
#[derive(Debug)]
pub(crate) struct Target {
    /// The path of the file behind all links.
    pub(crate) path: PathBuf,
    metadata: Metadata,
}

impl Target {
    /// The mode of the file, if the system has modes.
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "other systems have no modes")]
    pub(crate) fn mode(&self) -> Option<u32> {
        use std::os::unix::fs::MetadataExt as _;
        Some(self.metadata.mode() & 0o777)
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "other systems have no modes")]
    pub(crate) fn mode(&self) -> Option<u32> {
        None
    }

    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::io("write", &error);
        let metadata = path.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Failure::new("not a regular file, so it cannot be replaced")
                .with_hint("`--stdout` or `--output FILE` writes the body elsewhere"));
        }
        let path = path.canonicalize().map_err(failed)?;
        // A rename would bypass the write protection of the file.
        OpenOptions::new().write(true).open(&path).map_err(failed)?;
        Ok(Self { path, metadata })
    }

    /// Replaces the bytes of a file by `pieces` if its bytes still have the hash `before`. The mode stays, and the
    /// owner too if the system allows it.
    pub(crate) fn replace(&self, before: &str, pieces: &[&[u8]]) -> Result<(), Failure> {
        let draft = self.draft(pieces)?;
        // As late as possible: a process that writes between this check and the rename would lose its change.
        let now = std::fs::read(&self.path).map_err(|error| Failure::io("read it again", &error))?;
        if hash(&now) != before {
            return Err(changed());
        }
        draft.publish(&self.path).map(drop)
    }

    /// A draft with the owner and the mode of the file.
    pub(super) fn draft(&self, pieces: &[&[u8]]) -> Result<Draft, Failure> {
        let draft = Draft::write(&self.path, pieces, Access::Owner)?;
        self.keep_owner(&draft);
        let kept = draft.file.as_file().set_permissions(self.metadata.permissions());
        kept.map_err(|error| Failure::io("keep the mode of the file", &error))?;
        Ok(draft)
    }

    #[cfg(unix)]
    fn keep_owner(&self, draft: &Draft) {
        use std::os::unix::fs::MetadataExt as _;
        // Only root may give files away; other users keep the files they create.
        let _ = std::os::unix::fs::fchown(draft.file.as_file(), Some(self.metadata.uid()), Some(self.metadata.gid()));
    }

    #[cfg(not(unix))]
    fn keep_owner(&self, _: &Draft) {}
}

pub(super) fn changed() -> Failure {
    Failure::new("the file changed while it was being repaired; it was not changed").with_hint("run the command again")
}

/// Writes a file, which need not exist. A new file has only the access that all its sources have: they may be private.
/// Pipes and devices are written directly.
pub(crate) fn write<'p>(
    path: &Path,
    pieces: &[&[u8]],
    sources: impl IntoIterator<Item = &'p Path>,
) -> Result<(), Failure> {
    write_for(sources.into_iter().fold(Access::Usual, Access::within), path, pieces)
}

/// As [`write`]; a new file has the mode that the file had before it was removed. Without one only the owner can read it.
pub(crate) fn restore(path: &Path, bytes: &[u8], mode: Option<u32>, times: Option<Times>) -> Result<(), Failure> {
    write_private(path, &[bytes])?;
    let set = |times: Times| OpenOptions::new().append(true).open(path).and_then(|file| times.set(&file));
    if let Some(times) = times {
        set(times).map_err(|error| Failure::io("restore the times of the file", &error))?;
    }
    #[cfg(unix)]
    if let Some(mode) = mode {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode & 0o777);
        std::fs::set_permissions(path, mode).map_err(|error| Failure::io("restore the mode of the file", &error))?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    Ok(())
}

/// As [`write`]; only the owner can read a new file.
pub(crate) fn write_private(path: &Path, pieces: &[&[u8]]) -> Result<(), Failure> {
    write_for(Access::Owner, path, pieces)
}

/// Creates a file that does not exist yet and that only its owner can read.
pub(crate) fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write_for(access: Access, path: &Path, pieces: &[&[u8]]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::io("write", &error);
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => {
            let target = path.canonicalize().map_err(failed)?;
            let draft = Draft::write(&target, pieces, Access::Owner)?;
            draft.file.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
            draft.publish(&target).map(drop)
        }
        Ok(_) => {
            let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            write_pieces(&mut file, pieces).map_err(failed)
        }
        Err(_) => Draft::write(path, pieces, access)?.publish(path).map(drop),
    }
}

/// The readers of a draft.
#[derive(Clone, Copy)]
enum Access {
    /// Only its owner; a file that is replaced passes its mode on.
    Owner,
    /// The default mode of new files.
    Usual,
    /// The part of the default mode that another file has, too.
    #[cfg(unix)]
    Within(u32),
}

impl Access {
    /// The part of this access that a file has, too. A file that cannot be inspected counts as private.
    #[cfg(unix)]
    fn within(self, source: &Path) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        match source.metadata() {
            // The access to a pipe says nothing about what is in it.
            Ok(found) if !found.is_file() => self,
            Ok(found) => Self::Within(found.mode() & self.mode()),
            Err(_) => Self::Owner,
        }
    }

    #[cfg(not(unix))]
    fn within(self, _: &Path) -> Self {
        self
    }

    /// The mode of a new file, to which the system applies the umask.
    #[cfg(unix)]
    fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Usual => 0o666,
            Self::Within(mode) => 0o600 | mode & 0o666,
        }
    }
}

/// A temporary file beside the file that it replaces. Dropping it removes it.
pub(super) struct Draft {
    file: NamedTempFile,
}

impl Draft {
    fn write(target: &Path, pieces: &[&[u8]], access: Access) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::io(&format!("write a file in the folder {}", folder(target).display()), &error)
        };
        drafts::remove_stale(folder(target), drafts::is_of_target);
        let mut file = create(target, access).map_err(failed)?;
        drafts::hold(file.as_file());
        write_pieces(file.as_file_mut(), pieces).map_err(failed)?;
        Ok(Self { file })
    }

    /// Gives the draft the times of another file.
    pub(super) fn set_times(&self, times: Times) -> Result<(), Failure> {
        times.set(self.file.as_file()).map_err(|error| Failure::io("keep the times of the file", &error))
    }

    /// Puts the bytes of the draft on the disk.
    pub(super) fn sync(&self) -> Result<(), Failure> {
        self.file.as_file().sync_all().map_err(|error| Failure::io("write", &error))
    }

    /// Renames the draft to `target` once its bytes are on the disk. Returns the open file.
    pub(super) fn publish(self, target: &Path) -> Result<File, Failure> {
        self.sync()?;
        let file = self.file.persist(target).map_err(|error| Failure::io("write", &error.error))?;
        // The new bytes are in place, so this is not an error. If the folder cannot be synced, for example because it
        // is not readable, a power failure may bring the old bytes back.
        let _ = sync_folder(target);
        Ok(file)
    }
}

/// Creates a file in the folder of `target`.
fn create(target: &Path, access: Access) -> std::io::Result<NamedTempFile> {
    let (prefix, suffix) = draft_name(target);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(suffix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(access.mode()));
    #[cfg(not(unix))]
    let _ = access;
    builder.tempfile_in(folder(target))
}

/// The beginning and the end of the names of files beside `target` that are removed if their process is killed, such as
/// `.NAME.a1B2c3.seamline`.
pub(super) fn draft_name(target: &Path) -> (OsString, &'static str) {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".");
    (prefix, ".seamline")
}

/// Makes a rename in a file's folder durable.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    // Only Unix can open and sync folders; elsewhere the rename is enough.
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
    fn a_file_that_changed_after_reading_is_not_replaced() {
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
    fn a_new_file_has_the_usual_mode_and_a_private_file_only_its_owners() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let (usual, private, plain) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
        write(&usual, &[b"a"], None).unwrap();
        write_private(&private, &[b"b"]).unwrap();
        std::fs::write(&plain, "c").unwrap();
        assert_eq!((mode(&usual), mode(&private)), (mode(&plain), 0o600));
        std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_private(&private, &[b"again"]).unwrap();
        assert_eq!((mode(&private), std::fs::read(&private).unwrap()), (0o640, b"again".to_vec()));
        let (like_private, like_usual) = (folder.path().join("d"), folder.path().join("e"));
        std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o600)).unwrap();
        write(&like_private, &[b"d"], Some(private.as_path())).unwrap();
        write(&like_usual, &[b"e"], Some(plain.as_path())).unwrap();
        assert_eq!((mode(&like_private), mode(&like_usual)), (0o600, mode(&plain)));
    }
}
