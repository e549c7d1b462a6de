//! What can be chosen about a store.

use std::time::Duration;

/// How a store is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How long to wait for another process that is writing.
    pub busy_timeout: Duration,
    /// The most bytes the file of the store may have; beyond them everything that is to be kept is answered with
    /// [`seamline_store::Error::NoSpace`].
    pub bytes_max: Option<u64>,
    /// Whether nothing is written. The file is not made where there is none.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(10), bytes_max: None, read_only: false }
    }
}
