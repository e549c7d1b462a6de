//! The durable part of a ledger: entries in a store that outlive the proxy and that several proxies share.
//!
//! A thread of its own reads and writes, so that a slow or broken store never delays a request for long. Every proxy
//! writes sessions of its own, so several proxies share one store without waiting for each other, and reads those of all.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures_executor::block_on;
use seamline::session::{Session, SessionError, SessionOptions};
use seamline::store::{self, SessionInfo, Store};
use tokio::sync::{oneshot, watch};

use super::entry::Entry;
use super::memory::Memory;
use crate::journal::{IncidentReader, LEDGER_PREFIX, Sessions, all_sessions, new_series, now_ms, time_of_series};
use crate::log;

/// The most entries that wait to be written. Later ones are dropped: they are learned again.
const WAITING_MAX: usize = 4096;
/// The most entries of one commit.
const BATCH_MAX: usize = 256;
/// The pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest time that one session gets entries.
const SERIES_TIME_MS: u64 = 24 * 60 * 60 * 1000;
/// The number of sessions that the bytes of a store are divided into. The oldest one makes room as a whole.
const SERIES_COUNT: u64 = 8;
/// The longest time that a request waits for the store.
const PATIENCE: Duration = Duration::from_millis(500);
/// The longest time that the end of the proxy waits for the store.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);
/// The time between two looks at the thread that ends.
const CLOSE_NAP: Duration = Duration::from_millis(2);

/// The settings of the store behind a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerStoreSettings {
    /// The URL of the store, as [`seamline::open_store`] takes it.
    pub address: String,
    /// The most bytes of the ledgers of all proxies in the store, about. The oldest entries go first.
    pub bytes_max: u64,
}

/// A request to the thread.
enum Order {
    Write(Entry),
    /// Read what other proxies wrote, and say so.
    Read(oneshot::Sender<()>),
}

/// Writes entries, and reads those of other proxies into a memory.
#[derive(Debug)]
pub(super) struct LedgerStore {
    sender: Mutex<Option<SyncSender<Order>>>,
    is_loaded: watch::Receiver<bool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl LedgerStore {
    /// Starts the thread, which reads the store first.
    pub(super) fn start(settings: LedgerStoreSettings, memory: Arc<Memory>) -> std::io::Result<Self> {
        let (sender, orders) = sync_channel(WAITING_MAX);
        let (loaded, is_loaded) = watch::channel(false);
        let worker = Worker { settings, memory, opened: None, own: None };
        let run = move || worker.run(&orders, &loaded);
        let thread = std::thread::Builder::new().name("seamline-ledger".to_owned()).spawn(run)?;
        Ok(Self { sender: Mutex::new(Some(sender)), is_loaded, thread: Mutex::new(Some(thread)) })
    }

    /// Has an entry written. Never waits.
    pub(super) fn write(&self, entry: Entry) {
        if !self.send(Order::Write(entry)) {
            log::record_dropped_entry();
        }
    }

    /// Waits until the store was read once, or for the longest time that a request waits.
    pub(super) async fn wait_until_loaded(&self) {
        if *self.is_loaded.borrow() {
            return;
        }
        let mut is_loaded = self.is_loaded.clone();
        let _ = tokio::time::timeout(PATIENCE, is_loaded.wait_for(|loaded| *loaded)).await;
    }

    /// Reads what other proxies wrote. Returns whether the store answered in time.
    pub(super) async fn read(&self) -> bool {
        let (done, is_done) = oneshot::channel();
        self.send(Order::Read(done)) && matches!(tokio::time::timeout(PATIENCE, is_done).await, Ok(Ok(())))
    }

    fn send(&self, order: Order) -> bool {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        sender.as_ref().is_some_and(|sender| sender.try_send(order).is_ok())
    }
}

impl Drop for LedgerStore {
    /// Lets the thread write what waits.
    fn drop(&mut self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let end = Instant::now() + CLOSE_PATIENCE;
        while !thread.is_finished() && Instant::now() < end {
            std::thread::sleep(CLOSE_NAP);
        }
    }
}

/// The thread behind a [`LedgerStore`].
struct Worker {
    settings: LedgerStoreSettings,
    memory: Arc<Memory>,
    opened: Option<Opened>,
    /// The session that this proxy writes.
    own: Option<OwnSession>,
}

struct Opened {
    store: Arc<dyn Store>,
    reader: IncidentReader,
}

struct OwnSession {
    session: Session,
    began: u64,
    bytes: u64,
}

impl Worker {
    fn run(mut self, orders: &Receiver<Order>, loaded: &watch::Sender<bool>) {
        let mut waiting = Vec::new();
        let mut pause = Duration::ZERO;
        self.attempt(&mut waiting, &mut pause);
        loaded.send_replace(true);
        loop {
            let first = if waiting.is_empty() {
                orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                orders.recv_timeout(pause)
            };
            let is_over = matches!(first, Err(RecvTimeoutError::Disconnected));
            let mut readers = Vec::new();
            let mut next = first.ok();
            while let Some(order) = next {
                match order {
                    Order::Write(entry) if waiting.len() < WAITING_MAX => waiting.push(entry),
                    Order::Write(_) => {}
                    Order::Read(done) => readers.push(done),
                }
                next = orders.try_recv().ok();
            }
            let is_written = self.attempt(&mut waiting, &mut pause);
            if is_written {
                // A request that waits no longer needs no notice.
                for done in readers {
                    let _ = done.send(());
                }
            }
            if is_over {
                break;
            }
        }
        if let Some(own) = self.own.take() {
            // The lease ends with the process at the latest.
            let _ = block_on(own.session.close());
        }
    }

    /// Writes what waits and reads what is new. After a failure both are tried again later.
    fn attempt(&mut self, waiting: &mut Vec<Entry>, pause: &mut Duration) -> bool {
        match block_on(self.exchange(waiting)) {
            Ok(()) => {
                *pause = Duration::ZERO;
                true
            }
            Err(error) => {
                if pause.is_zero() {
                    log::warn_of_ledger(&error);
                }
                (self.opened, self.own) = (None, None);
                *pause = PAUSE;
                false
            }
        }
    }

    async fn exchange(&mut self, waiting: &mut Vec<Entry>) -> Result<(), SessionError> {
        if self.opened.is_none() {
            let store = seamline::open_store(&self.settings.address).await?;
            remove_old(store.as_ref(), self.settings.bytes_max).await?;
            let reader = IncidentReader::new(Arc::clone(&store), Sessions::OfLedgers);
            self.opened = Some(Opened { store, reader });
        }
        let Some(opened) = &mut self.opened else { return Ok(()) };
        for noted in opened.reader.read_new().await? {
            if let Some(entry) = Entry::of_record(&noted.incident) {
                entry.learn(&self.memory);
            }
        }
        while !waiting.is_empty() {
            let count = self.batch_of(waiting);
            self.write(&waiting[..count]).await?;
            waiting.drain(..count);
        }
        Ok(())
    }

    /// The number of entries for one commit, which is not larger than a session.
    fn batch_of(&self, waiting: &[Entry]) -> usize {
        let sizes = waiting.iter().take(BATCH_MAX).scan(0, |sum, entry| {
            *sum += entry.bytes();
            Some(*sum)
        });
        sizes.take_while(|sum| *sum <= self.settings.bytes_max / SERIES_COUNT).count().max(1)
    }

    async fn write(&mut self, batch: &[Entry]) -> Result<(), SessionError> {
        let (now, bytes_max) = (now_ms(), self.settings.bytes_max / SERIES_COUNT);
        let is_full = |own: &OwnSession| own.bytes >= bytes_max || now.saturating_sub(own.began) >= SERIES_TIME_MS;
        if self.own.as_ref().is_none_or(is_full) {
            let Some(opened) = &self.opened else { return Ok(()) };
            if let Some(old) = self.own.take() {
                old.session.close().await?;
                remove_old(opened.store.as_ref(), self.settings.bytes_max).await?;
            }
            let name = format!("{LEDGER_PREFIX}{}", new_series(now)).parse();
            let name = name.map_err(|error: store::InvalidSessionId| {
                store::Error::Refused(store::cause::Refused::Other(error.to_string()))
            })?;
            let title = Some("the ledger of a proxy".to_owned());
            let options = SessionOptions { title, ..SessionOptions::default() };
            let session = Session::create(Arc::clone(&opened.store), name, options).await?;
            self.own = Some(OwnSession { session, began: now, bytes: 0 });
        }
        let Some(own) = &mut self.own else { return Ok(()) };
        own.bytes += batch.iter().map(Entry::bytes).sum::<u64>();
        own.session.record_incidents(batch.iter().map(|entry| entry.to_record(now)).collect()).await
    }
}

/// Removes the oldest sessions until there is room for a new one. Those of running proxies stay.
async fn remove_old(store: &dyn Store, bytes_max: u64) -> Result<(), SessionError> {
    let sessions: Vec<SessionInfo> = all_sessions(store).await?;
    let sessions: Vec<_> = sessions.iter().filter(|info| info.session.as_str().starts_with(LEDGER_PREFIX)).collect();
    let mut bytes = sessions.iter().map(|info| info.bytes).sum::<u64>();
    let room = bytes_max.saturating_sub(bytes_max / SERIES_COUNT);
    // A proxy that crashed still holds its last session.
    let written_until = now_ms().saturating_sub(2 * SERIES_TIME_MS);
    let is_written = |info: &SessionInfo| {
        let began = info.session.as_str().strip_prefix(LEDGER_PREFIX).and_then(time_of_series);
        info.holder.is_some() && began.is_none_or(|began| began >= written_until)
    };
    for info in sessions {
        if bytes <= room {
            break;
        }
        if is_written(info) {
            continue;
        }
        match store.erase(&info.session).await {
            // Another proxy removed it.
            Ok(_) | Err(store::Error::NotFound(_) | store::Error::Erased(_)) => bytes -= info.bytes,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signatures::CallMark;

    fn settings(folder: &std::path::Path, bytes_max: u64) -> LedgerStoreSettings {
        LedgerStoreSettings { address: format!("sqlite:{}", folder.join("ledger.db").display()), bytes_max }
    }

    fn signature(number: usize) -> Entry {
        Entry::Signature { call: CallMark::of(&number.to_string()), signature: "x".repeat(1000) }
    }

    fn ledgers(settings: &LedgerStoreSettings) -> Vec<SessionInfo> {
        let store = block_on(seamline::store::open_store_to_read(&settings.address)).unwrap();
        block_on(all_sessions(store.as_ref())).unwrap()
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path(), 128 * 1024);
        for round in 0..3 {
            let memory = Arc::new(Memory::new(1 << 20));
            let store = LedgerStore::start(settings.clone(), memory).unwrap();
            for number in 0..200 {
                store.write(signature(round * 200 + number));
            }
            drop(store);
        }
        let sessions = ledgers(&settings);
        let bytes = sessions.iter().map(|info| info.bytes).sum::<u64>();
        // The size of an entry is an estimate.
        assert!(bytes > settings.bytes_max / 2 && bytes < 2 * settings.bytes_max, "{bytes} {}", sessions.len());
        let memory = Arc::new(Memory::new(1 << 20));
        drop(LedgerStore::start(settings, Arc::clone(&memory)).unwrap());
        let known = |number: usize| !memory.signatures.keep(CallMark::of(&number.to_string()), &"x".repeat(1000));
        assert!(known(599) && !known(0));
    }

    #[test]
    fn a_store_that_fails_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        // A file is where the folder should be.
        let missing = folder.path().join("missing");
        std::fs::write(&missing, "").unwrap();
        let settings = settings(&missing, 1 << 20);
        let memory = Arc::new(Memory::new(1 << 20));
        let store = LedgerStore::start(settings.clone(), memory).unwrap();
        block_on(async {
            let mut loaded = store.is_loaded.clone();
            let _ = loaded.wait_for(|loaded| *loaded).await;
        });
        std::fs::remove_file(&missing).unwrap();
        std::fs::create_dir(&missing).unwrap();
        store.write(signature(1));
        drop(store);
        assert_eq!(ledgers(&settings).len(), 1);
    }
}
