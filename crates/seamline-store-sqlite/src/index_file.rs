//! The file with the index of the write-ahead log.

use std::io;
use std::path::Path;

use crate::wal::INDEX;

/// The state of the file.
pub(crate) enum Found {
    /// Another process has the database open.
    InUse,
    /// No other process has it open.
    Idle {
        /// The start of the file.
        bytes: [u8; INDEX],
        /// Whether the file was written since the machine started. If not, a crash of the machine may have lost changes
        /// of it.
        is_fresh: bool,
    },
    /// There is no index.
    Nothing,
}

#[cfg(unix)]
pub(crate) use unix::read;

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::os::unix::fs::{FileExt, MetadataExt};
    use std::sync::{Mutex, PoisonError};

    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

    use super::{Found, INDEX, Path, io};

    /// The byte that every connection locks.
    const CONNECTED: u64 = 128;

    /// The index files that this process has read. Closing one would release the locks of this process's connections to
    /// the same database, so each stays open until SQLite has removed it.
    static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());

    /// Reads the start of the index.
    pub(crate) fn read(path: &Path) -> io::Result<Found> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|file| file.metadata().is_ok_and(|found| found.nlink() > 0));
        let Some(file) = hold(&mut held, path)? else { return Ok(Found::Nothing) };
        if is_in_use(file) {
            return Ok(Found::InUse);
        }
        let mut bytes = [0; INDEX];
        match file.read_exact_at(&mut bytes, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Found::Nothing),
            read => read.map(|()| Found::Idle { bytes, is_fresh: is_fresh(file) }),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a file store reads the index beside its file")]
    fn hold<'a>(held: &'a mut Vec<File>, path: &Path) -> io::Result<Option<&'a File>> {
        let found = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let is_same =
            |file: &File| file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()));
        let place = if let Some(place) = held.iter().position(is_same) {
            place
        } else {
            held.push(File::open(path)?);
            held.len() - 1
        };
        Ok(held.get(place))
    }

    fn is_in_use(file: &File) -> bool {
        let (start, length, offset_type) = (CONNECTED, 1, FlockOffsetType::Set);
        let asked = Flock { start, length, pid: None, typ: FlockType::WriteLock, offset_type };
        fcntl_getlk(file, &asked).is_ok_and(|lock| lock.is_some())
    }

    #[cfg(target_os = "linux")]
    #[expect(clippy::disallowed_methods, reason = "the start of the machine is compared with the time of a file")]
    fn is_fresh(file: &File) -> bool {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let started = i64::try_from(now.as_secs()).unwrap_or(i64::MAX) - rustix::system::sysinfo().uptime;
        // Both clocks count seconds.
        file.metadata().is_ok_and(|found| found.mtime() > started + 2)
    }

    #[cfg(not(target_os = "linux"))]
    fn is_fresh(_file: &File) -> bool {
        false
    }
}

/// Reads the start of the index.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "a file store reads the index beside its file")]
pub(crate) fn read(path: &Path) -> io::Result<Found> {
    use std::io::Read;
    let mut bytes = [0; INDEX];
    // A process that has the database open may have locked these bytes.
    match std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => Ok(Found::Idle { bytes, is_fresh: false }),
        Err(_) => Ok(Found::Nothing),
    }
}
