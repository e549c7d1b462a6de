//! Scripts: how the provider behaves for one request.

mod headers;

use std::time::Duration;

use super::http::{Headers, Pace};
use super::signature::Key;

pub use headers::HELP;

/// How the provider behaves for one request. The default is a provider that works.
///
/// ```
/// use std::time::Duration;
/// use seamline_testkit::provider::{After, Script};
///
/// let script = Script::default().frame_delay(Duration::from_millis(5)).chunks(200, 40).reset(After::Frames(7));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(super) head_delay: Duration,
    pub(super) frame_delay: Duration,
    pub(super) fault: Option<Fault>,
    pub(super) is_filtered: bool,
    pub(super) refusal: Option<Refusal>,
    pub(super) text: Option<String>,
    pub(super) chunks: Option<(usize, usize)>,
    pub(super) reading: Pace,
    pub(super) transfer: Transfer,
    pub(super) is_gzip: bool,
    pub(super) headers: Headers,
    pub(super) trailers: Headers,
    pub(super) is_echo: bool,
    pub(super) takes_no_coding: bool,
    pub(super) closes: bool,
    /// The key with which requests must be signed.
    pub(super) key: Option<Key>,
    /// The whole response: its status and its JSON.
    pub(super) answer: Option<(u16, String)>,
}

/// A point of the body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// So many bytes, without the framing of HTTP and after the compression.
    Bytes(usize),
    /// So many frames, such as events of an event stream.
    Frames(usize),
}

/// A fault inside a response, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection is closed.
    Close(After),
    /// The connection is reset.
    Reset(After),
    /// Nothing more is sent, and the connection stays open.
    Stall(After),
    /// After so many frames the stream says that it failed, and ends.
    ErrorEvent(usize),
}

impl Fault {
    pub(super) fn after(self) -> After {
        match self {
            Self::Close(after) | Self::Reset(after) | Self::Stall(after) => after,
            Self::ErrorEvent(frames) => After::Frames(frames),
        }
    }
}

/// Why a request gets no response of the model, whatever its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// An error of the service, with the seconds to wait.
    Status(u16, Option<u32>),
    /// The words for a damaged conversation.
    Corruption,
    /// The same, but only for the first request with this key.
    CorruptionOnce(String),
}

/// How the end of a response is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Transfer {
    /// Streams are chunked, other bodies have a length.
    #[default]
    Usual,
    Chunked,
    Length,
    UntilClose,
}

impl Script {
    /// Waits before the head of the response.
    #[must_use]
    pub fn head_delay(self, head_delay: Duration) -> Self {
        Self { head_delay, ..self }
    }

    /// Waits before each frame but the first.
    #[must_use]
    pub fn frame_delay(self, frame_delay: Duration) -> Self {
        Self { frame_delay, ..self }
    }

    /// Closes the connection inside the response.
    #[must_use]
    pub fn cut(self, after: After) -> Self {
        Self { fault: Some(Fault::Close(after)), ..self }
    }

    /// Resets the connection inside the response.
    #[must_use]
    pub fn reset(self, after: After) -> Self {
        Self { fault: Some(Fault::Reset(after)), ..self }
    }

    /// Sends nothing more after this point until the client closes the connection.
    #[must_use]
    pub fn stall(self, after: After) -> Self {
        Self { fault: Some(Fault::Stall(after)), ..self }
    }

    /// Ends a stream after so many frames with the event by which its dialect reports an error.
    #[must_use]
    pub fn error_event(self, frames: usize) -> Self {
        Self { fault: Some(Fault::ErrorEvent(frames)), ..self }
    }

    /// Ends the response as a content filter does.
    #[must_use]
    pub fn filtered(self) -> Self {
        Self { is_filtered: true, ..self }
    }

    /// Answers with the error of the service that has this status.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        Self { refusal: Some(Refusal::Status(status, None)), ..self }
    }

    /// The same, with the seconds after which the client may try again.
    #[must_use]
    pub fn status_with_retry(self, status: u16, retry_after: u32) -> Self {
        Self { refusal: Some(Refusal::Status(status, Some(retry_after))), ..self }
    }

    /// Rejects a request with the words for a call without a result, even if it is valid.
    #[must_use]
    pub fn reject(self) -> Self {
        Self { refusal: Some(Refusal::Corruption), ..self }
    }

    /// The same, but only for the first request with this key.
    #[must_use]
    pub fn reject_once(self, key: &str) -> Self {
        Self { refusal: Some(Refusal::CorruptionOnce(key.to_owned())), ..self }
    }

    /// Answers with this text, and never with a tool call.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..self }
    }

    /// Answers with a text of so many pieces, each of so many bytes, and never with a tool call.
    #[must_use]
    pub fn chunks(self, count: usize, bytes: usize) -> Self {
        Self { chunks: Some((count, bytes)), ..self }
    }

    /// Reads the body of the request in steps of so many bytes, with a pause after each.
    #[must_use]
    pub fn read_slowly(self, bytes: usize, pause: Duration) -> Self {
        Self { reading: Some((bytes, pause)), ..self }
    }

    /// Sends the body in chunks, whatever it is.
    #[must_use]
    pub fn chunked(self) -> Self {
        Self { transfer: Transfer::Chunked, ..self }
    }

    /// Sends the body with its length, even a stream.
    #[must_use]
    pub fn with_length(self) -> Self {
        Self { transfer: Transfer::Length, ..self }
    }

    /// Sends the body without a length or chunks; the end of the connection ends it.
    #[must_use]
    pub fn until_close(self) -> Self {
        Self { transfer: Transfer::UntilClose, ..self }
    }

    /// Compresses the response.
    #[must_use]
    pub fn gzip(self) -> Self {
        Self { is_gzip: true, ..self }
    }

    /// Adds a header to the response.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a trailer to the response, which is then chunked.
    #[must_use]
    pub fn trailer(mut self, name: &str, value: &str) -> Self {
        self.trailers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds each header of the request to the response, as `x-echo-NAME`.
    #[must_use]
    pub fn echo(self) -> Self {
        Self { is_echo: true, ..self }
    }

    /// Refuses requests with a content coding.
    #[must_use]
    pub fn takes_no_coding(self) -> Self {
        Self { takes_no_coding: true, ..self }
    }

    /// Closes the connection after the response, as its header says.
    #[must_use]
    pub fn close(self) -> Self {
        Self { closes: true, ..self }
    }

    /// Answers with this status and this JSON, whatever the request holds.
    #[must_use]
    pub fn answer(self, status: u16, json: &str) -> Self {
        Self { answer: Some((status, json.to_owned())), ..self }
    }

    /// Refuses a request that is not signed with this key of AWS (version 4, for Bedrock). A temporary key has a token.
    #[must_use]
    pub fn signed(self, id: &str, secret: &str, token: Option<&str>) -> Self {
        let key = Key { id: id.to_owned(), secret: secret.to_owned(), token: token.map(str::to_owned) };
        Self { key: Some(key), ..self }
    }

    /// The pieces of the text of the response, if the script has one.
    pub(super) fn pieces(&self) -> Option<Vec<String>> {
        let numbered = |(count, bytes): (usize, usize)| (0..count).map(|number| piece(number, bytes)).collect();
        let text = self.text.as_ref().map(|text| vec![text.clone()]);
        self.chunks.map(numbered).or(text)
    }
}

/// A piece of text of so many bytes, which begins with its number if there is room for it.
fn piece(number: usize, bytes: usize) -> String {
    let mut piece = format!("{number} ");
    piece.truncate(bytes);
    piece.extend(std::iter::repeat_n('x', bytes - piece.len()));
    piece
}
