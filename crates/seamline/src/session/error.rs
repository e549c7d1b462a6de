//! The errors of a session.

use seamline_store::{InvalidSessionId, NotJson, Rejected};

/// The error of a session.
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
    /// The store failed. Nothing was written, unless the store does not know
    /// ([`Unknown`](seamline_store::Error::Unknown)); the next method of the session finds out first.
    #[error(transparent)]
    Store(#[from] seamline_store::Error),
    /// The request does not fit the state of the session: there is no such checkpoint or cycle, it has moved on, or tools
    /// are running. Nothing was written.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// A message is not JSON.
    #[error("the message is not one JSON value: {0}")]
    NotJson(#[from] NotJson),
    /// A value is not a message of the conversation, but for example a whole body.
    #[error("message {number} {what}")]
    NoMessage {
        /// The number of the value, from 1 on.
        number: usize,
        /// The kind of value that was given.
        what: super::NoMessage,
    },
    /// A response makes calls that were not run.
    #[error("the response makes {calls} tool call{} without a result", if *calls == 1 { "" } else { "s" })]
    OpenCalls {
        /// The number of such calls.
        calls: usize,
    },
    /// The conversation could not be read or written in its dialect.
    #[error(transparent)]
    Conversation(#[from] crate::Error),
    /// The policy that the session stores is not one that this version reads.
    #[error("cannot read the stored policy: {0}")]
    UnreadablePolicy(String),
    /// The policy that the caller gives could not be read once it is stored.
    #[error("cannot store the policy: {0}")]
    InvalidPolicy(#[from] crate::policy::PolicyError),
    /// The session refuses the request. Nothing was written, but a compaction may be over.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl SessionError {
    /// Returns the message without a hint. The text of a store's error has one.
    pub fn message(&self) -> String {
        match self {
            Self::Store(error) => error.message(),
            Self::Rejected(_)
            | Self::NotJson(_)
            | Self::NoMessage { .. }
            | Self::OpenCalls { .. }
            | Self::Conversation(_)
            | Self::UnreadablePolicy(_)
            | Self::InvalidPolicy(_)
            | Self::Refused(_) => self.to_string(),
        }
    }

    /// Returns what the caller can do about it, if there is one thing to do.
    ///
    /// ```
    /// use seamline::session::SessionError;
    ///
    /// let error = SessionError::OpenCalls { calls: 1 };
    /// assert_eq!(error.to_string(), "the response makes 1 tool call without a result");
    /// assert!(error.hint().is_some_and(|hint| hint.contains("`Session::execute_tool_cycle`")));
    /// ```
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Store(error) => return error.hint(),
            Self::Conversation(error) => return error.hint(),
            Self::NoMessage { what, .. } => return Some(what.hint()),
            Self::OpenCalls { .. } => {
                "run them in a cycle, with `Session::execute_tool_cycle`, or with `Session::begin_cycle` where you run \
                 tools yourself"
            }
            Self::UnreadablePolicy(_) => {
                "use the version of seamline that wrote it, or open the session with another policy"
            }
            Self::InvalidPolicy(error) => {
                let built = "build the policy with `Policy::preset` or `Policy::from_toml`, and change its knobs";
                return error.hint().or_else(|| Some(built.to_owned()));
            }
            Self::Rejected(_) | Self::NotJson(_) | Self::Refused(_) => return None,
        };
        Some(hint.to_owned())
    }
}

/// Why a session refuses a request that is well-formed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The envelope of a request is not a JSON object.
    #[error("the envelope of a request must be a JSON object")]
    EnvelopeNotObject,
    /// The envelope has messages of its own.
    #[error("the session provides `{list}`; the envelope must not contain it")]
    EnvelopeHoldsMessages {
        /// The member that lists messages.
        list: &'static str,
    },
    /// Calls are not run while the session is compacted.
    #[error("the session is being compacted: finish or cancel the compaction first")]
    Compacting,
    /// Only one compaction goes on at a time.
    #[error("the session is being compacted already")]
    AlreadyCompacting,
    /// There is no compaction to finish.
    #[error("no compaction is in progress")]
    NoCompaction,
    /// A write that the caller did not wait for has ended the compaction.
    #[error("the compaction has ended: an earlier write that the caller did not wait for took effect")]
    CompactionOver,
    /// The compaction was begun for another range.
    #[error("the compaction in progress is for the messages {start}..{end}, not for the given range")]
    OtherRange {
        /// The index of the first message of the range.
        start: usize,
        /// The index after the last message of the range.
        end: usize,
    },
    /// The messages of the compaction have changed since it was begun.
    #[error("the messages to be replaced have changed since the compaction was begun")]
    RangeChanged,
    /// A compaction must leave a message.
    #[error("without a summary the conversation would be empty")]
    NothingLeft,
    /// A cycle needs a turn with calls.
    #[error("the turn makes no tool calls that need a result")]
    NoCalls,
    /// The results of a cycle are too large for one commit.
    #[error("results of a cycle exceed {limit} bytes: this one has {bytes}")]
    ResultsTooLarge {
        /// The most bytes of all results together.
        limit: usize,
        /// The bytes of the result that does not fit.
        bytes: usize,
    },
    /// There is no repair that an undo could revert.
    #[error("there is no repair to undo")]
    NoRepair,
    /// The name of an archive would not be the name of a session.
    #[error(transparent)]
    ArchiveName(#[from] InvalidSessionId),
    /// There are too many archives of one state.
    #[error("there are {limit} archives `{name}` already")]
    TooManyArchives {
        /// The most archives of one state.
        limit: usize,
        /// The name of the first archive.
        name: String,
    },
}

impl From<InvalidSessionId> for SessionError {
    fn from(error: InvalidSessionId) -> Self {
        Self::Refused(error.into())
    }
}
