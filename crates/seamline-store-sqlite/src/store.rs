//! The store interface over an SQLite file.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use seamline_store::{
    Acquire, Appended, Erased, Error, Hash, Head, Holder, InboxDamage, InboxItem, Lease, LogLoss, Pending, Pushed,
    Quarantined, Sealed, SessionId, SessionInfo, Store, StoredCommit, cause, chain,
};

use crate::ask::ask;
use crate::connect::StoreFile;
use crate::job::Kind;
use crate::options::SqliteOptions;
use crate::queue::Queue;
use crate::writer::Writer;
use crate::{commits, reader, reads, writes};

/// The number of threads that read.
const READERS: usize = 2;

/// A store of sessions in an SQLite file.
///
/// A request runs even if the caller drops its future. Only while more than a thousand requests wait does dropping a
/// future cancel its request. Dropping the store waits until all requests are done.
#[derive(Debug)]
pub struct SqliteStore {
    file: Arc<StoreFile>,
    writes: Arc<Queue>,
    reads: Arc<Queue>,
    readers: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
}

impl SqliteStore {
    /// Opens the store at `path`. Creates the file and its folders if they are missing; only the owner can read them.
    ///
    /// If this process may not write the file, the store opens for reading and writes fail with [`Error::ReadOnly`].
    ///
    /// # Errors
    /// [`Error::Address`] if the path cannot be a store, [`Error::NewerFormat`], [`Error::Damaged`], and any error that
    /// keeps SQLite from opening the file.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, Error> {
        let (busy_timeout, is_for_reading) = (options.busy_timeout, options.read_only);
        let store_file = Arc::new(StoreFile::new(path.as_ref(), options)?);
        let opened = match store_file.create().and_then(|()| store_file.connect_writer()) {
            Ok(opened) => Some(opened),
            // The file may still be readable.
            Err(why @ Error::ReadOnly(_)) => match store_file.connect_reader() {
                Ok(_) => None,
                Err(_) if !is_for_reading && store_file.is_missing() => return Err(why),
                Err(error) => return Err(error),
            },
            Err(error) => return Err(error),
        };
        let (file, readers) = (store_file.clone(), Vec::new());
        let mut store = Self { file, writes: Arc::default(), reads: Arc::default(), readers, writer: None };
        for number in 0..READERS {
            let store_file = store_file.clone();
            let name = format!("seamline-read-{number}");
            store.readers.push(start(name, store.reads.clone(), move |queue| reader::run(&store_file, queue))?);
        }
        let writer = Writer::new(store_file, opened, busy_timeout);
        let name = "seamline-write".to_owned();
        store.writer = Some(start(name, store.writes.clone(), move |queue| writer.run(queue))?);
        Ok(store)
    }
}

#[expect(clippy::disallowed_methods, reason = "SQLite blocks, so it gets its own threads")]
fn start(name: String, queue: Arc<Queue>, work: impl FnOnce(&Queue) + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let thread = std::thread::Builder::new().name(name).spawn(move || {
        let abandon = Abandon(queue);
        work(&abandon.0);
    });
    thread.map_err(|error| Error::Failed(cause::Failed::Thread(error.to_string())))
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The writer closes the file last, because only it can remove the log. A thread that panicked has abandoned its
        // queue, so its callers have their errors.
        self.reads.close();
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        self.writes.close();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Abandons the queue when its thread ends, also by a panic, so that no caller waits for ever.
struct Abandon(Arc<Queue>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Store for SqliteStore {
    fn create<'a>(&'a self, session: &'a SessionId, holder: &'a Holder) -> Pending<'a, Lease> {
        let (session, holder) = (session.clone(), holder.clone());
        Box::pin(ask(&self.writes, Kind::Other, 0, move |file| writes::create(file, &session, &holder)))
    }

    fn acquire<'a>(&'a self, session: &'a SessionId, holder: &'a Holder, how: Acquire) -> Pending<'a, Lease> {
        let (session, holder) = (session.clone(), holder.clone());
        Box::pin(ask(&self.writes, Kind::Other, 0, move |file| writes::acquire(file, &session, &holder, &how)))
    }

    fn release<'a>(&'a self, session: &'a SessionId, epoch: u64) -> Pending<'a, ()> {
        let session = session.clone();
        Box::pin(ask(&self.writes, Kind::Other, 0, move |file| writes::release(file, &session, epoch)))
    }

    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended> {
        let (kind, bytes) = (Kind::Append(commit.id()), commit.bytes().len());
        Box::pin(ask(&self.writes, kind, bytes, move |file| writes::append(file, &commit)))
    }

    fn read_head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head> {
        let session = session.clone();
        Box::pin(ask(&self.reads, Kind::Other, 0, move |file| Ok(reads::session_row(file, &session)?.head)))
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: u64, bytes_max: usize) -> Pending<'a, Vec<StoredCommit>> {
        let session = session.clone();
        Box::pin(ask(&self.reads, Kind::Other, 0, move |file| commits::read(file, &session, after, bytes_max)))
    }

    fn list_sessions<'a>(&'a self, after: Option<&'a SessionId>, limit: usize) -> Pending<'a, Vec<SessionInfo>> {
        let after = after.cloned();
        Box::pin(ask(&self.reads, Kind::Other, 0, move |file| {
            reads::sessions(file, after.as_ref().map(SessionId::as_str), limit)
        }))
    }

    fn push<'a>(&'a self, session: &'a SessionId, item: &'a InboxItem) -> Pending<'a, Pushed> {
        let (session, item) = (session.clone(), item.clone());
        let bytes = item.message.as_bytes().len();
        Box::pin(ask(&self.writes, Kind::Other, bytes, move |file| writes::push(file, &session, &item)))
    }

    fn read_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>> {
        let session = session.clone();
        Box::pin(ask(&self.reads, Kind::Other, 0, move |file| reads::inbox(file, &session)))
    }

    fn count_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64> {
        let session = session.clone();
        Box::pin(ask(&self.reads, Kind::Other, 0, move |file| reads::waiting(file, &session)))
    }

    fn check_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxDamage>> {
        let session = session.clone();
        Box::pin(ask(&self.reads, Kind::Other, 0, move |file| reads::inbox_damage(file, &session)))
    }

    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash> {
        let (session, bytes) = (session.clone(), bytes.to_vec());
        let count = bytes.len();
        Box::pin(ask(&self.writes, Kind::Other, count, move |file| writes::quarantine(file, &session, &bytes)))
    }

    fn read_quarantine<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>> {
        let session = session.clone();
        Box::pin(ask(&self.reads, Kind::Other, 0, move |file| reads::read_quarantine(file, &session)))
    }

    fn losses(&self) -> Pending<'_, Vec<LogLoss>> {
        let store_file = self.file.clone();
        Box::pin(ask(&self.reads, Kind::Other, 0, move |_| store_file.losses()))
    }

    fn import<'a>(&'a self, session: &'a SessionId, commits: &'a [Vec<u8>]) -> Pending<'a, Head> {
        let (head, opened) = match chain(session, commits) {
            Ok((head, _)) if head.epoch.max(head.seq) > i64::MAX.cast_unsigned() => {
                let refused = Error::Refused(cause::Refused::NumbersTooLarge { session: session.clone() });
                return Box::pin(std::future::ready(Err(refused)));
            }
            Ok(chain) => chain,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let (session, commits): (_, Vec<_>) =
            (session.clone(), opened.into_iter().zip(commits.iter().cloned()).collect());
        let bytes = commits.iter().map(|(_, bytes)| bytes.len()).sum();
        Box::pin(ask(&self.writes, Kind::Other, bytes, move |file| writes::import(file, &session, head, &commits)))
    }

    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased> {
        let session = session.clone();
        Box::pin(ask(&self.writes, Kind::Erase, 0, move |file| writes::erase(file, &session)))
    }
}
