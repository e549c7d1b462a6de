//! The journal: incidents in a store, written beside the traffic.
//!
//! A thread of its own writes them, so that a slow or broken store never delays a request. The queue to it is bounded:
//! when it is full, the oldest incident makes room and is counted. Every proxy writes sessions of its own in the store,
//! so several proxies share one store without waiting for each other.

mod queue;
mod read;
mod writer;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::incident::ProxyIncident;
use queue::Queue;
use writer::Writer;

pub(crate) use queue::{new_series, now_ms, time_of_series};
pub(crate) use read::LEDGER_PREFIX;
pub use read::{IncidentReader, NotedIncident, Sessions};
pub(crate) use writer::all_sessions;

/// The settings of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSettings {
    /// The URL of the store, as [`seamline::open_store`] takes it.
    pub address: String,
    /// The age at which incidents are removed.
    pub keep_time: Duration,
    /// The most incidents that are kept, about. The oldest ones go first.
    pub count_max: u64,
}

impl JournalSettings {
    /// The default settings for a store.
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), keep_time: Duration::from_hours(30 * 24), count_max: 50_000 }
    }
}

/// The state of the store behind a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalNotice {
    /// The store cannot be used, so incidents wait in memory and the oldest ones are dropped.
    Unavailable(String),
    /// The store works again.
    Available,
}

/// Takes incidents, and has a thread write them to a store.
#[derive(Debug)]
pub struct IncidentJournal {
    queue: Arc<Queue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl IncidentJournal {
    /// Starts the thread that writes. It opens the store; `notify` hears when the store fails and when it works again.
    ///
    /// # Errors
    /// Fails when the system starts no thread.
    pub fn start(settings: JournalSettings, notify: impl Fn(JournalNotice) + Send + 'static) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let writer = Writer::new(settings, Arc::clone(&queue), Box::new(notify));
        let thread = std::thread::Builder::new().name("seamline-journal".to_owned()).spawn(|| writer.run())?;
        Ok(Self { queue, thread: Mutex::new(Some(thread)) })
    }

    /// Takes an incident and gives it an id. Returns the id, unless the store cannot be used at the moment. Never waits
    /// for the store.
    pub fn record(&self, incident: ProxyIncident) -> Option<String> {
        self.queue.push(incident)
    }

    /// The number of incidents that were lost.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Whether the store works.
    pub fn is_available(&self) -> bool {
        self.queue.is_available()
    }

    /// Writes the remaining incidents and ends the thread. Gives up if the store does not respond in this time.
    pub fn close(&self, patience: Duration) {
        self.queue.close();
        let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let end = Instant::now() + patience;
        while !thread.is_finished() && Instant::now() < end {
            std::thread::sleep(CLOSE_NAP);
        }
        if thread.is_finished() {
            // A panic of the writer is a bug of ours; no request waited for it.
            let _ = thread.join();
        }
    }
}

impl Drop for IncidentJournal {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// The time between two looks at the thread that ends.
const CLOSE_NAP: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests;
