//! The options for creating and opening sessions.

use std::sync::Arc;

use seamline_store::Damage;

use crate::Policy;
#[cfg(doc)]
use crate::session::Session;
use crate::session::{Clock, SystemClock};

/// The options for a new session.
///
/// ```
/// use std::sync::Arc;
/// use seamline::session::{Session, SessionOptions};
/// use seamline::store::MemoryStore;
///
/// # futures_executor::block_on(async {
/// let options = SessionOptions { provider: Some("gemini".to_owned()), ..SessionOptions::default() };
/// let session = Session::create(Arc::new(MemoryStore::new()), "s-1".parse()?, options).await?;
/// assert_eq!(session.dialect(), "gemini_generate", "the dialect of the provider");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The dialect of its messages. Without one, it is the dialect of the provider, or `anthropic_messages` if there is no
    /// provider either.
    pub dialect: Option<String>,
    /// The name of the provider. It has to serve the dialect.
    pub provider: Option<String>,
    /// The title for people.
    pub title: Option<String>,
    /// The policy of the session. The session stores it.
    pub policy: Policy,
    /// The clock of the session.
    pub clock: Arc<dyn Clock>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { dialect: None, provider: None, title: None, policy: Policy::default(), clock: Arc::new(SystemClock) }
    }
}

/// The options for opening a session.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Whether the lease is taken over from another writer. The other writer is fenced: the store refuses its commits from
    /// then on. Without it, a session that has another writer is [`Busy`](seamline_store::Error::Busy).
    pub take_over: bool,
    /// The dialect of its messages, for a session whose first record is damaged.
    pub dialect: Option<String>,
    /// Whether [`Session::recover`], without an executor, closes the cycles that a crash left open at once. Else
    /// [`Session::unresolved`] lists their calls.
    pub recover: bool,
    /// Another policy than the one that the session stores. The session stores it from its next commit on, so that the
    /// next opening uses it, too. Without one, the stored policy holds; a session that stores none has the default.
    pub policy: Option<Policy>,
    /// The clock of the session.
    pub clock: Arc<dyn Clock>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { take_over: false, dialect: None, recover: true, policy: None, clock: Arc::new(SystemClock) }
    }
}

/// The health of a session's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// Every commit passed its hash check.
    Whole,
    /// Some commits are damaged, or the index that leads to them, or the store lost commits. The intact commits are there,
    /// and the damaged bytes are in quarantine.
    Degraded(Vec<Damage>),
}

impl Health {
    /// The health of a log with these damages.
    pub(super) fn of(damages: Vec<Damage>) -> Self {
        if damages.is_empty() { Self::Whole } else { Self::Degraded(damages) }
    }

    /// Whether something of the session may be lost.
    pub(super) fn has_losses(&self) -> bool {
        matches!(self, Self::Degraded(damages) if damages.iter().any(|damage| damage.kind.is_loss()))
    }

    /// Whether every commit passed its hash check.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}
