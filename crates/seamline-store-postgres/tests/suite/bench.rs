//! Shared parts of the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_executor::block_on;
use seamline_store::{
    Acquire, Appended, Commit, CommitId, Error, Head, Holder, Lease, MessageRecord, Origin, Raw, Record, Replayed,
    Sealed, SessionId, Store, replay,
};
use seamline_store_postgres::{PostgresOptions, PostgresStore};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

pub(crate) const VARIABLE: &str = "SEAMLINE_TEST_POSTGRES";

/// Returns the URL of the test database, if there is one.
pub(crate) fn database() -> Option<String> {
    setting(VARIABLE)
}

pub(crate) fn setting(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    if found.is_none() {
        println!("skipped: {variable} is not set; `cargo xtask test` starts a PostgreSQL");
    }
    found
}

/// Returns a name that no test used before, in this run or another one.
pub(crate) fn unique(name: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    format!("{name}-{}-{nanos}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Returns options with a new tenant and short timeouts.
pub(crate) fn options(name: &str) -> PostgresOptions {
    PostgresOptions {
        tenant: unique(name),
        connect_timeout: Duration::from_secs(5),
        attempt_timeout: Duration::from_secs(5),
        settle_timeout: Duration::from_secs(20),
        ..PostgresOptions::default()
    }
}

pub(crate) fn connect(url: &str, options: &PostgresOptions) -> PostgresStore {
    block_on(PostgresStore::connect(url, options.clone())).unwrap()
}

pub(crate) fn holder(pid: u32) -> Holder {
    Holder { host: "test".to_owned(), pid, started: 1, since: 1, ..Holder::default() }
}

/// A session and its writer.
pub(crate) struct Writer {
    pub(crate) store: Arc<PostgresStore>,
    pub(crate) session: SessionId,
    pub(crate) lease: Lease,
    pub(crate) id: u32,
    next: u64,
}

impl Writer {
    pub(crate) fn create(store: Arc<PostgresStore>, session: &str, id: u32) -> Self {
        let session: SessionId = session.parse().unwrap();
        let lease = block_on(store.create(&session, &holder(id))).unwrap();
        Self { store, session, lease, id, next: 0 }
    }

    /// Makes a second writer of the session, which has no lease yet.
    pub(crate) fn rival(store: Arc<PostgresStore>, session: &SessionId, id: u32) -> Self {
        let lease = Lease { epoch: 0, head: Head::START };
        Self { store, session: session.clone(), lease, id, next: 0 }
    }

    pub(crate) fn take_over(&mut self) {
        self.lease = block_on(self.store.acquire(&self.session, &holder(self.id), Acquire::TakeOver)).unwrap();
    }

    /// Seals the next commit, with an id that no other writer uses.
    pub(crate) fn seal(&mut self) -> Arc<Sealed> {
        let message = format!("{{\"role\":\"user\",\"content\":\"{} of {}\"}}", self.next + 1, self.id);
        self.seal_records(&[Record::Message(MessageRecord::new(Raw::parse(message).unwrap(), Origin::Said, None))])
    }

    /// Seals the next commit with the given records.
    pub(crate) fn seal_records(&mut self, records: &[Record]) -> Arc<Sealed> {
        self.next += 1;
        let id = CommitId::from_bytes((u128::from(self.id) << 64 | u128::from(self.next)).to_be_bytes());
        let Self { session, lease, .. } = self;
        let commit = Commit { session, epoch: lease.epoch, head: lease.head, id, at: 7, records };
        Arc::new(commit.seal().unwrap())
    }

    pub(crate) fn send(&mut self, commit: &Arc<Sealed>) -> Result<Appended, Error> {
        let sent = block_on(self.store.append(commit.clone()));
        if sent.is_ok() {
            self.lease.head = commit.after();
        }
        sent
    }

    pub(crate) fn append(&mut self, count: usize) {
        for _ in 0..count {
            let commit = self.seal();
            assert_eq!(self.send(&commit), Ok(Appended::New));
        }
    }

    pub(crate) fn replayed(&self) -> Replayed {
        replayed(&self.store, &self.session)
    }
}

pub(crate) fn replayed(store: &PostgresStore, session: &SessionId) -> Replayed {
    let head = block_on(store.read_head(session)).unwrap();
    replay(session, head, &block_on(store.read(session, 0, usize::MAX)).unwrap())
}

/// A connection beside the store, to inspect or damage its rows.
pub(crate) struct Direct {
    runtime: Runtime,
    client: Client,
}

impl Direct {
    pub(crate) fn connect(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        });
        Self { runtime, client }
    }

    /// Returns the first column of each row.
    pub(crate) fn ask(&self, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
        let messages = self.runtime.block_on(self.client.simple_query(sql))?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(ToOwned::to_owned),
            _ => None,
        });
        Ok(rows.collect())
    }

    pub(crate) fn tell(&self, sql: &str) {
        self.ask(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    /// Runs SQL as a tenant.
    pub(crate) fn tell_as(&self, tenant: &str, sql: &str) {
        self.tell(&format!("BEGIN; SELECT set_config('seamline.tenant', '{tenant}', true); {sql}; COMMIT"));
    }
}

/// Random numbers that are the same for the same seed (splitmix64).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
