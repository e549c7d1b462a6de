//! The error of every operation on a body or a stream, and the limit of a body.

#[doc(inline)]
pub use seamline_dialects::{BYTES_MAX, Error as BodyError};
#[doc(inline)]
pub use seamline_files::native::Error as HistoryError;

/// The error of an operation. A broken conversation is never an error.
///
/// ```
/// let error = seamline::check(b"{}", &seamline::Options::default()).unwrap_err();
/// assert!(matches!(error, seamline::Error::Body(_)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The body could not be read.
    #[error(transparent)]
    Body(#[from] seamline_dialects::Error),
    /// The history of a program could not be read.
    #[error(transparent)]
    History(#[from] seamline_files::native::Error),
    /// A database of a program could not be read or written.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Database(#[from] seamline_files::database::DatabaseError),
    /// The input could not be read.
    #[error("could not read the file: {0}")]
    Unreadable(String),
    /// The records of a program cannot hold a conversation.
    #[error("the records of {0} cannot hold this conversation")]
    CannotExport(&'static str),
    /// A conversation has no message that a session can hold.
    #[error("the conversation has no messages")]
    NoMessages,
    /// No dialect has this name.
    #[error("no dialect is called `{0}`")]
    UnknownDialect(String),
    /// No provider has this name.
    #[error("no provider is called `{0}`")]
    UnknownProvider(String),
    /// No provider and no dialect has this name.
    #[error("no provider and no dialect is called `{0}`")]
    UnknownSide(String),
    /// The body is written in another dialect than was named.
    #[error("this looks like {} {found} body, not {} {reads} one", article(found), article(reads))]
    OtherDialect {
        /// The dialect that was named.
        reads: &'static str,
        /// The dialect that the body is written in.
        found: &'static str,
    },
    /// A stream is written in another dialect than was named.
    #[error("this looks like {} {found} stream, not {asked}", article(found))]
    OtherStream {
        /// The dialect that was named.
        asked: &'static str,
        /// The dialect that the stream is written in.
        found: &'static str,
    },
    /// The frames of the stream do not identify its dialect.
    #[error("cannot detect the dialect of the stream")]
    UnknownStream,
}

fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

impl Error {
    /// Returns what the caller can do about it, if there is one thing to do.
    ///
    /// ```
    /// let options = seamline::Options { provider: Some("antropic".to_owned()), ..Default::default() };
    /// let error = seamline::check(br#"{"messages":[]}"#, &options).unwrap_err();
    /// assert_eq!(error.to_string(), "no provider is called `antropic`");
    /// assert!(error.hint().is_some_and(|hint| hint.contains("anthropic")));
    /// ```
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Body(error) => error.hint().map(str::to_owned),
            Self::History(HistoryError::NoOrder { .. }) => {
                Some("say whether the oldest or the newest message is first".to_owned())
            }
            Self::History(_) => {
                Some("pass the list of messages, or an object with the member `messages` or `history`".to_owned())
            }
            Self::UnknownDialect(_) => {
                Some(format!("the dialects are {}", crate::providers::dialect_names().join(", ")))
            }
            Self::UnknownProvider(_) => {
                let names: Vec<_> = crate::providers::ALL.iter().map(|provider| provider.name).collect();
                Some(format!("the providers are {}", names.join(", ")))
            }
            Self::UnknownSide(_) => {
                let providers = crate::providers::ALL.iter().map(|provider| provider.name);
                let names: Vec<_> = providers.chain(crate::providers::dialect_names()).collect();
                Some(format!("the providers and dialects are {}", names.join(", ")))
            }
            Self::Unreadable(why) if why.contains(seamline_files::packed::DAMAGED) => {
                Some("`seamline salvage` reads the part before the damage".to_owned())
            }
            Self::Unreadable(_) | Self::CannotExport(_) | Self::NoMessages => None,
            #[cfg(feature = "sqlite")]
            Self::Database(error) => error.hint().map(str::to_owned),
            Self::UnknownStream => Some(format!(
                "if this is a response, pass the name of its dialect: {}",
                crate::providers::dialect_names().join(", ")
            )),
            Self::OtherDialect { found, .. } | Self::OtherStream { found, .. } => {
                Some(format!("pass the dialect `{found}`, or leave it out"))
            }
        }
    }
}
