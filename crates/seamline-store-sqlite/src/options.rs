//! Options of a store.

use std::time::Duration;

/// The options of [`SqliteStore::open`](crate::SqliteStore::open).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long a request waits while another process writes.
    pub busy_timeout: Duration,
    /// The most bytes of the file. Beyond them writes fail with [`seamline_store::Error::NoSpace`].
    pub bytes_max: Option<u64>,
    /// Whether the store only reads. It then creates no file, except to keep the bytes of a damaged log.
    pub read_only: bool,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(10), bytes_max: None, read_only: false }
    }
}
