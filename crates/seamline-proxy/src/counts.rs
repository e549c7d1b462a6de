//! Counts of open connections, requests and streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The counts of a proxy.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) connections: OpenCount,
    pub(crate) requests: OpenCount,
    pub(crate) streams: OpenCount,
}

/// The number of open things of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenCount(Arc<AtomicUsize>);

/// One open thing. It is counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(Arc<AtomicUsize>);

impl OpenCount {
    /// Counts one more.
    pub(crate) fn enter(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(&self.0))
    }

    /// The number at this moment.
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
