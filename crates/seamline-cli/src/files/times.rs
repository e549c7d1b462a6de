//! The times of a file.

use std::fs::{File, FileTimes, Metadata};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// When a file was changed and read, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Times {
    modified_ns: u64,
    accessed_ns: u64,
}

impl Times {
    /// The times of a file, if the system keeps them.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        let nanos = |time: SystemTime| u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok();
        let modified_ns = metadata.modified().ok().and_then(nanos)?;
        let accessed_ns = metadata.accessed().ok().and_then(nanos).unwrap_or(modified_ns);
        Some(Self { modified_ns, accessed_ns })
    }

    /// Gives a file these times.
    pub(crate) fn set(self, file: &File) -> std::io::Result<()> {
        let time = |nanos: u64| UNIX_EPOCH + Duration::from_nanos(nanos);
        file.set_times(FileTimes::new().set_modified(time(self.modified_ns)).set_accessed(time(self.accessed_ns)))
    }
}
