//! Replacement of the session file of a program, which may write at any moment.
//!
//! The program may open the file, append a record and close the file between any two steps of a repair. So the old file is
//! kept under a second name until it is certain that nothing was written to it after it was read. Otherwise it gets its name
//! back, and what was appended to the repaired file meanwhile is appended to it.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::SystemTime;

use tempfile::NamedTempFile;

use super::in_use::{self, InUse};
use super::replace::{Target, changed, draft_name, folder};
use super::times::Times;
use super::undo::Force;
use super::{drafts, hash};
use crate::failure::Failure;

/// The new bytes of a session file.
pub(crate) struct NewSession<'a> {
    /// The hash of the bytes that they replace.
    pub(crate) before: &'a str,
    pub(crate) pieces: &'a [&'a [u8]],
    /// The times that the file gets, if they are known.
    pub(crate) times: Option<Times>,
    /// Whether to write although a program uses the file.
    pub(crate) force: Force,
}

/// A step of a replacement, after which another process may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The bytes of the file were compared with those that were repaired.
    Compared,
    /// The file has a second name, which keeps its bytes.
    Kept,
    /// The repaired file has the name of the file.
    Renamed,
}

impl Target {
    /// As [`replace`](Self::replace), for the session file of a program. The times of the file stay, because programs order
    /// sessions by them. The file is locked, and if a program wrote to it after it was read, the bytes of the program stay.
    pub(crate) fn replace_session(&self, new: &NewSession<'_>) -> Result<(), Failure> {
        self.replace_in_steps(new, &mut |_| {})
    }

    fn replace_in_steps(&self, new: &NewSession<'_>, behind: &mut dyn FnMut(Step)) -> Result<(), Failure> {
        let mut old = OldFile::open(&self.path)?;
        match old.file.try_lock() {
            // Every repair of this file takes the lock first, so its drafts belong to processes that were killed.
            Ok(()) => drafts::remove_of(&self.path),
            Err(TryLockError::WouldBlock) if new.force == Force::No => return Err(InUse::Locked.into()),
            Err(_) => {}
        }
        let draft = self.draft(new.pieces)?;
        if hash(&old.read()?) != new.before {
            return Err(changed());
        }
        behind(Step::Compared);
        if let (Force::No, Some(in_use)) = (new.force, in_use::look_again(&self.path)) {
            return Err(in_use.into());
        }
        new.times.map_or(Ok(()), |times| draft.set_times(times))?;
        draft.sync()?;
        let kept = keep(&self.path);
        behind(Step::Kept);
        if old.is_changed()? || !old.is_at(&self.path) {
            return Err(changed());
        }
        let repaired = draft.publish(&self.path)?;
        behind(Step::Renamed);
        let written: usize = new.pieces.iter().map(|piece| piece.len()).sum();
        let holders = match new.force {
            // A process that opened the old file before the rename may still write to it.
            Force::No => in_use::wait_for_holders(&old.file),
            Force::Yes => None,
        };
        if holders.is_none() && !old.is_changed()? {
            return Ok(());
        }
        self.put_back(&mut old, kept)?;
        carry_over(&repaired, written as u64, &self.path).map_err(reading)?;
        Err(holders.map_or_else(changed, Failure::from))
    }

    /// Gives the old file its name back.
    fn put_back(&self, old: &mut OldFile, kept: Option<NamedTempFile<()>>) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::io("restore it", &error);
        match kept.filter(|kept| old.is_at(kept.path())) {
            Some(kept) => kept.persist(&self.path).map_err(|error| failed(error.error)),
            None => self.draft(&[&old.read()?])?.publish(&self.path).map(drop),
        }
    }
}

/// Removes what killed repairs of a file left beside it, for a file that needs no repair.
pub(crate) fn remove_leftovers(path: &Path) {
    let Ok(path) = path.canonicalize() else { return };
    let Ok(file) = File::open(&path) else { return };
    // The lock is held until the drafts are gone.
    if file.try_lock().is_ok() {
        drafts::remove_of(&path);
    }
}

/// As [`remove_leftovers`], of all files in the folder of a file. Each folder is searched once.
pub(crate) fn remove_leftovers_beside(path: &Path) {
    drafts::remove_stale(folder(path), drafts::is_of_target);
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that `map_err` asks for")]
fn reading(error: std::io::Error) -> Failure {
    Failure::io("read it again", &error)
}

/// Gives a file a second name, if the file system has such names.
fn keep(path: &Path) -> Option<NamedTempFile<()>> {
    let (prefix, suffix) = draft_name(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(suffix).make_in(folder(path), |name| std::fs::hard_link(path, name)).ok()
}

/// Appends to the file at `path` what other processes appended to a file that has lost its name.
fn carry_over(mut lost: &File, written: u64, path: &Path) -> std::io::Result<()> {
    in_use::wait_for_holders(lost);
    let mut tail = Vec::new();
    lost.seek(SeekFrom::Start(written))?;
    lost.read_to_end(&mut tail)?;
    if tail.is_empty() {
        return Ok(());
    }
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(&tail)?;
    file.sync_all()
}

/// The file that is replaced. Its bytes are readable until it is closed, whatever has its name.
struct OldFile {
    file: File,
    metadata: Metadata,
    /// The state of the file before it was read.
    seen: Stamp,
}

impl OldFile {
    fn open(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(reading)?;
        let metadata = file.metadata().map_err(reading)?;
        Ok(Self { seen: Stamp::of(&metadata).map_err(reading)?, file, metadata })
    }

    fn read(&mut self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        self.file.rewind().and_then(|()| self.file.read_to_end(&mut bytes)).map_err(reading)?;
        Ok(bytes)
    }

    /// Whether a process wrote to the file after it was opened here.
    fn is_changed(&self) -> Result<bool, Failure> {
        let now = self.file.metadata().and_then(|metadata| Stamp::of(&metadata)).map_err(reading)?;
        Ok(now != self.seen)
    }

    /// Whether a path leads to this file.
    #[cfg(unix)]
    fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let own = (self.metadata.dev(), self.metadata.ino());
        path.symlink_metadata().is_ok_and(|found| (found.dev(), found.ino()) == own)
    }

    /// Other systems do not tell; the length and the times of the file have to do.
    #[cfg(not(unix))]
    fn is_at(&self, path: &Path) -> bool {
        let own = (self.metadata.len(), self.metadata.created().ok());
        path.symlink_metadata().is_ok_and(|found| (found.len(), found.created().ok()) == own)
    }
}

/// The length and the time of an open file, which every write changes.
#[derive(PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: SystemTime,
}

impl Stamp {
    fn of(metadata: &Metadata) -> std::io::Result<Self> {
        Ok(Self { length: metadata.len(), modified: metadata.modified()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "{\"a\":1}\n";
    const NEW: &str = "{\"a\":2}\n";

    /// Replaces a session while `behind` acts as another process. Returns the outcome and the bytes of the file.
    fn replace(behind: &mut dyn FnMut(Step, &Path)) -> (Result<(), Failure>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, OLD).unwrap();
        let target = Target::of(&path).unwrap();
        let before = hash(OLD.as_bytes());
        let pieces = [NEW.as_bytes()];
        let new = NewSession { before: &before, pieces: &pieces, times: None, force: Force::No };
        let outcome = target.replace_in_steps(&new, &mut |step| behind(step, &path));
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["s.jsonl"]);
        (outcome, std::fs::read_to_string(&path).unwrap())
    }

    fn append(path: &Path, line: &str) {
        OpenOptions::new().append(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
    }

    #[test]
    fn a_line_that_is_appended_at_any_step_is_kept() {
        assert_eq!(replace(&mut |_, _| {}), (Ok(()), NEW.to_owned()));
        for at in [Step::Compared, Step::Kept] {
            let (outcome, bytes) = replace(&mut |step, path| {
                if step == at {
                    append(path, "{\"b\":1}\n");
                }
            });
            assert_eq!((outcome, bytes), (Err(changed()), [OLD, "{\"b\":1}\n"].concat()), "{at:?}");
        }
        // Behind the rename, a process that opens the file appends to the repaired one.
        let (outcome, bytes) = replace(&mut |step, path| {
            if step == Step::Renamed {
                append(path, "{\"b\":1}\n");
            }
        });
        assert_eq!((outcome, bytes), (Ok(()), [NEW, "{\"b\":1}\n"].concat()));
    }

    #[test]
    fn lines_for_the_old_file_and_the_repaired_one_are_both_kept() {
        let mut held = None;
        let (outcome, bytes) = replace(&mut |step, path| match step {
            Step::Compared => {}
            Step::Kept => held = Some(OpenOptions::new().append(true).open(path).unwrap()),
            Step::Renamed => {
                held.as_mut().unwrap().write_all(b"{\"b\":1}\n").unwrap();
                append(path, "{\"b\":2}\n");
            }
        });
        assert_eq!((outcome, bytes), (Err(changed()), [OLD, "{\"b\":1}\n{\"b\":2}\n"].concat()));
    }

    #[test]
    fn a_file_that_its_program_replaces_meanwhile_stays() {
        let (outcome, bytes) = replace(&mut |step, path| {
            if step == Step::Kept {
                let other = path.with_extension("other");
                std::fs::write(&other, OLD.to_uppercase()).unwrap();
                std::fs::rename(other, path).unwrap();
            }
        });
        assert_eq!((outcome, bytes), (Err(changed()), OLD.to_uppercase()));
    }
}
