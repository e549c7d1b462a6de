//! A dialect: the data and functions that read and write one kind of request and response.

use std::fmt;
use std::sync::LazyLock;

use seamline_model::conversation::Conversation;
use seamline_model::{Constraints, Edit, Encoded, Place, Span, Transcript};

use crate::convert::{Draft, Rendered, Room, Target};
use crate::density::parts_exceeding;
use crate::detect::BodySigns;
use crate::detect_stream::StreamSigns;
use crate::failures::{ErrorBody, FailedEvent, FailedStream, Failures};
use crate::reader::{self, Earlier, Extended, Form};
use crate::response_facts::FactPaths;
use crate::signing::Signing;
use crate::streaming::Streaming;
use crate::{ALL, Error, Provider, Results, Shapes, UnlistedCalls, pointer};

/// A way of writing a conversation on the wire.
///
/// Each dialect is one folder with one constant of this type. Code outside that folder reads the fields and names
/// no dialect.
pub struct Dialect {
    /// The names of the members that hold messages, and the reader of one message.
    pub(crate) form: Form,
    /// The demands that all providers of the dialect share.
    pub(crate) constraints: &'static Constraints,
    /// Reads a request body.
    pub(crate) decode: fn(&[u8], Form) -> Result<Transcript<'_>, Error>,
    /// Writes edits into the text of a transcript.
    pub(crate) encode: fn(&Transcript<'_>, &[Edit], &Constraints) -> Encoded,
    /// Reads a request body into a conversation that other dialects can render.
    pub(crate) lift: fn(&[u8]) -> Result<Conversation, Error>,
    /// The abilities of the dialect, to which conversations of other dialects are fitted.
    pub(crate) room: &'static Room,
    /// Writes a conversation that fits the room as a body.
    pub(crate) render: fn(Draft, &Target<'_>) -> Rendered,
    /// The functions that write and read tool results.
    pub(crate) results: &'static Results,
    /// The tests that tell messages, responses and tool calls of this dialect from others.
    pub(crate) shapes: &'static Shapes,
    /// The functions that read streamed responses and write whole ones.
    pub(crate) streaming: &'static Streaming,
    /// The calls that are not blocks of a transcript, where the dialect has such calls.
    pub(crate) unlisted_calls: Option<&'static UnlistedCalls>,
    /// The functions that write errors as the provider writes them.
    pub(crate) failures: &'static Failures,
    /// The signs by which a request body is recognised.
    pub(crate) body_signs: &'static BodySigns,
    /// The signs by which a streamed response is recognised.
    pub(crate) stream_signs: &'static StreamSigns,
    /// The places of the facts about a response.
    pub(crate) facts: &'static FactPaths,
    /// The places of the signatures of calls, where the provider signs them.
    pub(crate) signing: Option<&'static Signing>,
    /// The names of members, and the values of members that choose from a list.
    pub(crate) words: &'static [&'static str],
    /// Providers that are defined in the dialect's own folder. Others are in `providers/`.
    pub(crate) providers: &'static [&'static Provider],
}

impl Dialect {
    /// The name, such as `openai_chat`.
    pub const fn name(&self) -> &'static str {
        self.form.dialect
    }

    /// The demands that all providers of the dialect share.
    pub const fn constraints(&self) -> &'static Constraints {
        self.constraints
    }

    /// Reads a request body.
    ///
    /// # Errors
    ///
    /// When the body is not UTF-8, not JSON or not this dialect's envelope, or has too many parts for its size. A
    /// broken conversation is not an error.
    pub fn decode<'a>(&self, body: &'a [u8]) -> Result<Transcript<'a>, Error> {
        let transcript = self.decode_again(body)?;
        match parts_exceeding(&transcript) {
            Some(parts) => Err(Error::TooManyParts { parts, bytes: body.len() }),
            None => Ok(transcript),
        }
    }

    /// Reads a body that edits made from one that was read. Its parts may be denser.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn decode_again<'a>(&self, body: &'a [u8]) -> Result<Transcript<'a>, Error> {
        (self.decode)(body, self.form)
    }

    /// Reads messages that were appended to those of a transcript, and keeps what was read before. The transcript
    /// already refers to the new text; `added` gives the spans of the new messages. Returns nothing when the whole
    /// body must be decoded again.
    pub fn read_on<'a>(&self, transcript: Transcript<'a>, added: &[Span]) -> Option<Transcript<'a>> {
        reader::read_on(transcript, added, self.form)
    }

    /// Reads a body, but not the messages at its start that an earlier body starts with as well. Returns nothing when
    /// the whole body must be decoded.
    pub fn decode_on<'a>(&self, body: &'a [u8], earlier: Earlier<'_>) -> Option<Extended<'a>> {
        reader::decode_on(body, earlier, self.form)
    }

    /// Reads the text that edits produced, and keeps what was read of messages that were only copied. Returns
    /// nothing when the whole body must be decoded again.
    pub fn follow<'n>(&self, before: &Transcript<'n>, encoded: &'n Encoded) -> Option<Transcript<'n>> {
        reader::follow(before, encoded, self.form)
    }

    /// Writes edits by splicing the text the transcript was read from, for a provider with these demands.
    pub fn encode(&self, transcript: &Transcript<'_>, edits: &[Edit], demands: &Constraints) -> Encoded {
        (self.encode)(transcript, edits, demands)
    }

    /// Writes a place as a JSON pointer into the body.
    pub fn pointer(&self, transcript: &Transcript<'_>, place: &Place) -> String {
        pointer::pointer(transcript, place, self.form)
    }

    /// The functions that write and read tool results.
    pub const fn results(&self) -> &'static Results {
        self.results
    }

    /// The tests that tell messages, responses and tool calls of this dialect from others.
    pub const fn shapes(&self) -> &'static Shapes {
        self.shapes
    }

    /// Whether results have a flag that says if the tool failed.
    pub const fn marks_failures(&self) -> bool {
        self.room.failures
    }

    /// The calls that are not blocks of a transcript, where the dialect has such calls.
    pub const fn unlisted_calls(&self) -> Option<&'static UnlistedCalls> {
        self.unlisted_calls
    }

    /// Writes the error response with this status, as the provider writes it.
    ///
    /// ```
    /// let dialect = seamline_dialects::by_name("gemini_generate").unwrap();
    /// let body = dialect.error_body(400, "no contents");
    /// assert_eq!(body.json, r#"{"error":{"code":400,"message":"no contents","status":"INVALID_ARGUMENT"}}"#);
    /// ```
    pub fn error_body(&self, status: u16, message: &str) -> ErrorBody {
        (self.failures.body)(status, message)
    }

    /// Writes the event that ends a failed stream, as the provider writes it.
    pub fn failed_event(&self, failed: &FailedStream<'_>) -> FailedEvent {
        (self.failures.event)(failed)
    }

    /// The functions that read streamed responses and write whole ones.
    pub const fn streaming(&self) -> &'static Streaming {
        self.streaming
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dialect").field(&self.name()).finish()
    }
}

/// Finds the dialect with this name.
pub fn by_name(name: &str) -> Option<&'static Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name() == name)
}

/// The members of requests that are the list of messages: each name once, in the order of the dialects.
pub fn message_lists() -> &'static [&'static str] {
    static LISTS: LazyLock<Vec<&str>> = LazyLock::new(|| once(ALL.iter().map(|dialect| dialect.form.list)));
    &LISTS
}

/// The members of messages that are the list of blocks: each name once, in the order of the dialects.
pub fn block_lists() -> &'static [&'static str] {
    static LISTS: LazyLock<Vec<&str>> = LazyLock::new(|| once(ALL.iter().map(|dialect| dialect.form.content)));
    &LISTS
}

/// Each name once, in its first place.
fn once(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Declares the module of each dialect and lists them all, in the order users see them. Adding a dialect adds one
/// line here and nothing else outside its folder.
macro_rules! dialects {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        /// Every dialect, in the order users see them.
        pub const ALL: &[&Dialect] = &[$(&$name::DIALECT,)*];

        /// The prefixes of the ids that providers give, one list for each dialect.
        pub(crate) const ID_PREFIXES: &[&[&str]] = &[$($name::ID_PREFIXES,)*];
    };
}

pub(crate) use dialects;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_is_named_once() {
        assert_eq!(message_lists(), ["messages", "contents", "input"]);
        assert_eq!(block_lists(), ["content", "parts"]);
    }
}
