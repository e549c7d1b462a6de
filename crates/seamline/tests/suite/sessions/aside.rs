//! Quarantined bytes, and the incidents about them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seamline::session::{Session, SessionPolicy};
use seamline::store::{
    Acquire, Appended, Erased, Hash, Head, Holder, InboxDamage, InboxItem, IncidentKind, Lease, Pending, Pushed,
    Quarantined, Raw, Sealed, SessionId, SessionInfo, Store, StoredCommit,
};

use super::stores::{ASK, memory, on_every_store, open_options};

#[test]
fn an_incident_about_quarantined_bytes_does_not_contain_them() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        let message = r#"{"secret":"4711"}"#;
        let item = InboxItem { id: "i1".into(), message: Raw::parse(message).unwrap(), dialect: None };
        place.store.push(session.id(), &item).await.unwrap();
        assert_eq!(session.take_inbox().await.unwrap(), 0);
        let told = session.incidents().next_back().unwrap();
        assert!(!told.detail.contains("secret"), "{}", told.detail);
        // Its hash finds it.
        let aside = place.store.read_quarantine(session.id()).await.unwrap();
        let found = aside.iter().find(|found| told.detail.contains(&found.hash.to_string())).unwrap();
        assert_eq!(found.bytes, message.as_bytes());
    });
}

/// A store whose inbox is damaged as the test says, and which counts the messages that are checked for damage.
#[derive(Debug)]
struct Leaky {
    inner: Arc<dyn Store>,
    /// How many messages are missing.
    missing: AtomicUsize,
    /// How many messages were checked for damage.
    looked_at: AtomicUsize,
}

impl Leaky {
    fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, missing: AtomicUsize::new(0), looked_at: AtomicUsize::new(0) })
    }
}

impl Store for Leaky {
    fn create<'a>(&'a self, session: &'a SessionId, holder: &'a Holder) -> Pending<'a, Lease> {
        self.inner.create(session, holder)
    }

    fn acquire<'a>(&'a self, session: &'a SessionId, holder: &'a Holder, how: Acquire) -> Pending<'a, Lease> {
        self.inner.acquire(session, holder, how)
    }

    fn release<'a>(&'a self, session: &'a SessionId, epoch: u64) -> Pending<'a, ()> {
        self.inner.release(session, epoch)
    }

    fn append(&self, commit: Arc<Sealed>) -> Pending<'_, Appended> {
        self.inner.append(commit)
    }

    fn read_head<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Head> {
        self.inner.read_head(session)
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: u64, bytes_max: usize) -> Pending<'a, Vec<StoredCommit>> {
        self.inner.read(session, after, bytes_max)
    }

    fn list_sessions<'a>(&'a self, after: Option<&'a SessionId>, limit: usize) -> Pending<'a, Vec<SessionInfo>> {
        self.inner.list_sessions(after, limit)
    }

    fn push<'a>(&'a self, session: &'a SessionId, item: &'a InboxItem) -> Pending<'a, Pushed> {
        self.inner.push(session, item)
    }

    fn read_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxItem>> {
        self.inner.read_inbox(session)
    }

    fn count_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, u64> {
        self.inner.count_inbox(session)
    }

    fn check_inbox<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<InboxDamage>> {
        Box::pin(async move {
            let found = self.inner.count_inbox(session).await?;
            self.looked_at.fetch_add(usize::try_from(found).unwrap(), Ordering::Relaxed);
            let missing = self.missing.load(Ordering::Relaxed) as u64;
            Ok(InboxDamage::miscounted(found + missing, found).into_iter().collect())
        })
    }

    fn quarantine<'a>(&'a self, session: &'a SessionId, bytes: &'a [u8]) -> Pending<'a, Hash> {
        self.inner.quarantine(session, bytes)
    }

    fn read_quarantine<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Vec<Quarantined>> {
        self.inner.read_quarantine(session)
    }

    fn import<'a>(&'a self, session: &'a SessionId, commits: &'a [Vec<u8>]) -> Pending<'a, Head> {
        self.inner.import(session, commits)
    }

    fn erase<'a>(&'a self, session: &'a SessionId) -> Pending<'a, Erased> {
        self.inner.erase(session)
    }
}

/// A session on such a store.
async fn leaky() -> (Arc<Leaky>, Session) {
    let place = memory();
    let made = place.create(SessionPolicy::default()).await;
    let id = made.id().clone();
    made.close().await.unwrap();
    let store = Leaky::new(place.store.clone());
    let session = Session::open(store.clone(), id, open_options()).await.unwrap();
    (store, session)
}

#[test]
fn each_message_of_a_long_inbox_is_checked_about_once() {
    futures_executor::block_on(async {
        let (store, mut session) = leaky().await;
        // Two of them are more than one page holds.
        let long = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(9 * 1024 * 1024));
        for number in 0..12 {
            let item = InboxItem {
                id: format!("i{number}").into(),
                message: Raw::parse(long.as_str()).unwrap(),
                dialect: None,
            };
            store.push(session.id(), &item).await.unwrap();
        }
        for _ in 0..12 {
            assert_eq!(session.take_inbox().await.unwrap(), 1);
        }
        let looked_at = store.looked_at.load(Ordering::Relaxed);
        assert!((12..=24).contains(&looked_at), "{looked_at}");
    });
}

#[test]
fn missing_inbox_messages_are_recorded_once_until_more_are_missing() {
    futures_executor::block_on(async {
        let (store, mut session) = leaky().await;
        let damaged =
            |session: &Session| session.incidents().filter(|found| found.kind == IncidentKind::Damaged).count();
        for (missing, wanted) in [(0, 0), (1, 1), (1, 1), (2, 2), (2, 2)] {
            store.missing.store(missing, Ordering::Relaxed);
            for number in 0..2 {
                let item = InboxItem {
                    id: format!("{missing}-{wanted}-{number}").into(),
                    message: Raw::parse(ASK).unwrap(),
                    dialect: None,
                };
                store.push(session.id(), &item).await.unwrap();
                session.take_inbox().await.unwrap();
                session.take_inbox().await.unwrap();
            }
            assert_eq!(damaged(&session), wanted, "{missing}");
        }
    });
}
