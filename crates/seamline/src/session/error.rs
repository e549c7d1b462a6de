//! Why a session could not do what was asked.

use seamline_store::{NotJson, Rejected};

/// Why a session could not do what was asked.
///
/// ```
/// use std::sync::Arc;
/// use seamline::session::{Session, SessionError, SessionOptions};
/// use seamline::store::MemoryStore;
///
/// # futures_executor::block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let mut session = Session::create(store, "s-1".parse().unwrap(), SessionOptions::default()).await.unwrap();
/// let error = session.append("no json").await.unwrap_err();
/// assert!(matches!(error, SessionError::NotJson(_)));
/// # });
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The store could not do its part; nothing of what was asked happened, unless the store says that it does not know
    /// ([`Unknown`](seamline_store::Error::Unknown)). Then whatever is asked next finds out first.
    #[error(transparent)]
    Store(#[from] seamline_store::Error),
    /// What was asked does not fit the session as it is: there is no such checkpoint or cycle, it is past that, or tools
    /// are running. Nothing happened.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// A message is no JSON.
    #[error("a message is one JSON value: {0}")]
    NotJson(#[from] NotJson),
    /// What was given as a message is something else.
    #[error("message {number} {what}\nhint: {}", what.hint())]
    NoMessage {
        /// Which of those that were given, from 1 on.
        number: usize,
        /// What it is.
        what: super::NoMessage,
    },
    /// An answer was to be kept whose calls nobody has run.
    #[error(
        "the answer makes {calls} calls that nothing answers\nhint: run them in a cycle, with `Session::execute_tool_cycle`, or with `Session::begin_cycle` where you run tools yourself"
    )]
    OpenCalls {
        /// How many.
        calls: usize,
    },
    /// The conversation could not be read or written in its dialect.
    #[error(transparent)]
    Conversation(#[from] crate::Error),
    /// Something else about what was asked is wrong, which is said. Nothing happened, but for a compaction that is over.
    #[error("{0}")]
    Refused(String),
}
