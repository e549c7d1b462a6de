//! The stores of the session tests, and tools that a test controls.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seamline::Policy;
use seamline::policy::OnInvalid;
use seamline::session::{
    Clock, ExecutorFailure, OpenOptions, Running, Session, SessionOptions, SessionPolicy, ToolCall, ToolExecutor,
    ToolOutput,
};
use seamline::store::{Effect, MemoryStore, Store};

/// Counts sessions, so that every test of this process has its own.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// One kind of store, open.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) store: Arc<dyn Store>,
    /// A folder that is removed after the test.
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    /// A name that no other test has.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}-{}", self.name, std::process::id(), SESSIONS.fetch_add(1, Ordering::Relaxed))
    }

    /// Creates a session that repairs nothing without asking.
    pub(crate) async fn create(&self, config: SessionPolicy) -> Session {
        self.create_with(asking(config)).await
    }

    pub(crate) async fn create_with(&self, policy: Policy) -> Session {
        let options = SessionOptions { policy, clock: Arc::new(Tick::default()), ..SessionOptions::default() };
        Session::create(self.store.clone(), self.name().parse().unwrap(), options).await.unwrap()
    }

    /// Opens a session again, as another process would after this one is gone.
    pub(crate) async fn reopen(&self, session: &Session) -> Session {
        let options = OpenOptions { take_over: true, ..open_options() };
        Session::open(self.store.clone(), session.id().clone(), options).await.unwrap()
    }
}

/// A policy that offers repairs and makes none without asking.
pub(crate) fn asking(session: SessionPolicy) -> Policy {
    let mut policy = repairing(session);
    policy.repair.on_invalid = OnInvalid::Offer;
    policy
}

/// A policy that repairs without asking.
pub(crate) fn repairing(session: SessionPolicy) -> Policy {
    Policy { session, ..Policy::default() }
}

pub(crate) fn open_options() -> OpenOptions {
    OpenOptions { clock: Arc::new(Tick::default()), ..OpenOptions::default() }
}

/// Runs a test on every available store.
pub(crate) fn on_every_store<F: Future<Output = ()>>(test: impl Fn(Arc<Place>) -> F) {
    futures_executor::block_on(async {
        for place in places().await {
            test(Arc::new(place)).await;
        }
    });
}

/// The reference implementation.
pub(crate) fn memory() -> Place {
    Place { name: "memory", store: Arc::new(MemoryStore::new()), _folder: None }
}

async fn places() -> Vec<Place> {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("sessions.db").display());
    let sqlite = Place { name: "sqlite", store: seamline::open_store(&address).await.unwrap(), _folder: Some(folder) };
    let mut places = vec![memory(), sqlite];
    if let Ok(address) = std::env::var("SEAMLINE_TEST_POSTGRES") {
        let store = seamline::open_store(&address).await.unwrap();
        places.push(Place { name: "postgres", store, _folder: None });
    }
    places
}

/// A clock that advances by one at every reading.
#[derive(Debug, Default)]
pub(crate) struct Tick(AtomicUsize);

impl Clock for Tick {
    fn now(&self) -> u64 {
        1_794_639_611_000 + self.0.fetch_add(1, Ordering::Relaxed) as u64
    }
}

/// Says what a tool does with a call.
type Does = dyn Fn(&ToolCall) -> Result<ToolOutput, ExecutorFailure> + Send + Sync;

/// A tool that a test controls, and that counts its runs.
pub(crate) struct Tool {
    pub(crate) effect: Effect,
    pub(crate) does: Box<Does>,
    pub(crate) runs: AtomicUsize,
}

impl Tool {
    pub(crate) fn saying(text: &str) -> Self {
        let text = text.to_owned();
        Self::doing(move |_| Ok(ToolOutput { output: text.clone(), is_error: false }))
    }

    pub(crate) fn doing(
        does: impl Fn(&ToolCall) -> Result<ToolOutput, ExecutorFailure> + Send + Sync + 'static,
    ) -> Self {
        Self { effect: Effect::Unsafe, does: Box::new(does), runs: AtomicUsize::new(0) }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }
}

impl ToolExecutor for Tool {
    fn effect(&self, _call: &ToolCall) -> Effect {
        self.effect
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { (self.does)(call) })
    }
}

pub(crate) const ASK: &str = r#"{"role":"user","content":"please"}"#;

/// A turn that makes calls of these ids.
pub(crate) fn turn(ids: &[&str]) -> String {
    let calls: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"type":"tool_use","id":"{id}","name":"sh","input":{{"cmd":"{id}"}}}}"#))
        .collect();
    format!(r#"{{"role":"assistant","content":[{}]}}"#, calls.join(","))
}

/// A message with the results of calls of these ids.
pub(crate) fn results(ids: &[&str]) -> String {
    let results: Vec<String> =
        ids.iter().map(|id| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"did {id}"}}"#)).collect();
    format!(r#"{{"role":"user","content":[{}]}}"#, results.join(","))
}

/// A body of these messages, as the provider would get it.
pub(crate) fn is_valid(session: &Session) -> bool {
    let request = session.request(ENVELOPE).unwrap();
    let options = seamline::Options { provider: Some("anthropic".to_owned()), ..Default::default() };
    request.sendable && seamline::check(&request.body, &options).unwrap().findings.is_empty()
}

pub(crate) const ENVELOPE: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":64}"#;

/// The stored messages, byte for byte.
pub(crate) fn kept(session: &Session) -> Vec<String> {
    session.messages().map(str::to_owned).collect()
}
