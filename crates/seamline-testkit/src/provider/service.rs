//! The paths, errors and responses of one dialect, as its provider has them.

use serde_json::Value;

use super::reject::{Case, Words};
use super::reply::{Answer, Event, Reply};
use super::route::Operation;
use super::tools::Declared;

/// The paths, errors and responses of one dialect.
pub(crate) struct Service {
    /// The path for a response. Its first part names the provider.
    pub(crate) path: &'static str,
    /// The path for a streamed response. It differs from the other one where the body does not ask for the stream.
    pub(crate) stream_path: &'static str,
    /// A short request that the provider accepts.
    pub(crate) short_body: &'static str,
    /// The operation that a path and its query ask for; nothing for the paths of other dialects.
    pub(crate) operation: fn(&str, &str) -> Option<Operation>,
    /// The number of tokens of a request.
    pub(crate) token_count: fn() -> Value,
    /// The tools that a request declares.
    pub(crate) tools: fn(&Value) -> Declared<'_>,
    /// The words with which the provider rejects a body.
    pub(crate) words: fn(&Case<'_>) -> Words,
    /// The words for bytes that are not JSON.
    pub(crate) not_json: fn(&serde_json::Error) -> String,
    /// The rejection with these words.
    pub(crate) reject: fn(&Words) -> Reply,
    /// The error of the service with a status, whatever the request holds.
    pub(crate) failure: fn(u16) -> Reply,
    /// A whole response.
    pub(crate) whole: fn(&Answer) -> Value,
    /// The events of a streamed response.
    pub(crate) events: fn(&Answer) -> Vec<Event>,
    /// The frame behind the last event of an event stream, if there is one.
    pub(crate) stream_end: Option<&'static str>,
    /// A streamed response with one tool call, from its name and the text of its input.
    pub(crate) call_stream: fn(&str, &str) -> String,
}
