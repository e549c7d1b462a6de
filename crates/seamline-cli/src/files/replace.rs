//! Replacing a file so that at every moment either the old bytes or the new ones are there.

use std::fs::{File, Metadata, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

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
        let kept = draft.file.set_permissions(self.metadata.permissions());
        kept.map_err(|error| Failure::io("keep the mode of the file", &error))?;
        // As late as can be: whoever writes in between would lose what he wrote.
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
        let _ = std::os::unix::fs::fchown(&draft.file, Some(self.metadata.uid()), Some(self.metadata.gid()));
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
            draft.file.set_permissions(metadata.permissions()).map_err(failed)?;
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
    /// Whoever may read new files.
    Usual,
}

/// A file beside the one it is to become; gone when it does not.
struct Draft {
    path: PathBuf,
    file: File,
    is_published: bool,
}

impl Draft {
    fn write(target: &Path, pieces: &[&[u8]], access: Access) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::io("write beside the file", &error);
        let (path, file) = create(target, access).map_err(failed)?;
        let mut draft = Self { path, file, is_published: false };
        write_pieces(&mut draft.file, pieces).map_err(failed)?;
        Ok(draft)
    }

    fn publish(mut self, target: &Path) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::io("write", &error);
        self.file.sync_all().map_err(failed)?;
        std::fs::rename(&self.path, target).map_err(failed)?;
        self.is_published = true;
        // The new bytes are there, so it did not fail. Where the folder cannot be synced, as in
        // one that may be written to and not read, a loss of power may bring the old ones back.
        let _ = sync_folder(target);
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_published {
            // Nothing to be done about a draft that cannot be removed.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A new file in the folder of `target`.
fn create(target: &Path, access: Access) -> std::io::Result<(PathBuf, File)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    /// Names left behind by processes of the same number that crashed.
    const TRIES_MAX: u32 = 1000;
    let name = target.file_name().unwrap_or_default();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if matches!(access, Access::Owner) {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut last = None;
    for _ in 0..TRIES_MAX {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut draft = std::ffi::OsString::from(".");
        draft.push(name);
        draft.push(format!(".{}-{number}.seamline", std::process::id()));
        let path = target.with_file_name(draft);
        match options.open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| std::io::ErrorKind::AlreadyExists.into()))
}

/// Makes a rename in a file's folder durable.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Folders can be opened and synced on Unix only; elsewhere a rename is all there is.
    if cfg!(unix) { File::open(folder.unwrap_or(Path::new(".")))?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("seamline-replace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("body.json");
        std::fs::write(&path, "as read").unwrap();
        let target = Target::of(&path).unwrap();
        std::fs::write(&path, "by somebody else").unwrap();
        assert_eq!(target.replace(&hash(b"as read"), &[b"rep", b"aired"]), Err(changed()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "by somebody else");
        assert_eq!(target.replace(&hash(b"by somebody else"), &[b"rep", b"aired"]), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "repaired");
        let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["body.json"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
