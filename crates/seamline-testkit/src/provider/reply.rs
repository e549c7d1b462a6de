//! Responses in every dialect, streamed or whole.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod gemini;
pub(crate) mod interactions;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

use serde_json::{Value, json};

use super::event_stream;
use super::http::Headers;
use super::route::Framing;
use super::tools::ToolCall;
use crate::Dialect;

/// The text of a response without a tool call.
pub(super) const DONE: &str = "The probe ran.";

/// An event of a stream: its name, if its dialect names events, and its data.
pub(crate) type Event = (&'static str, Value);

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) headers: Headers,
    /// The frames of the body; a response that does not stream has one.
    pub(super) frames: Vec<Vec<u8>>,
    pub(super) stream: Option<(Dialect, Framing)>,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let frames = vec![body.to_string().into_bytes()];
        Self { status, kind: "application/json", headers: Vec::new(), frames, stream: None }
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The frame by which the stream says that it failed, after so many frames. Nothing if the response does not stream.
    pub(super) fn error_frame(&self, frames: usize) -> Option<Vec<u8>> {
        let (dialect, framing) = self.stream?;
        Some(match framing {
            Framing::Messages => {
                let payload = json!({"message": "The system encountered an unexpected error during processing. Try your request again.",
                    "originalStatusCode": 500});
                event_stream::exception("modelStreamErrorException", payload.to_string().as_bytes())
            }
            Framing::Array => {
                let data = dialect.error_event().trim_start_matches("data: ").trim_end();
                let start = if frames == 0 { "[" } else { ",\r\n" };
                format!("{start}{data}\n]\n").into_bytes()
            }
            _ => dialect.error_event().as_bytes().to_vec(),
        })
    }
}

/// One response of the fake provider.
pub(crate) struct Answer {
    /// The number of the response, which makes its ids unique.
    pub(super) number: usize,
    pub(crate) said: Said,
    /// Whether a content filter ends the response.
    pub(super) is_filtered: bool,
}

/// The content of a response of the model.
pub(crate) enum Said {
    /// A call of a tool.
    Call(ToolCall),
    /// A text in pieces.
    Text(Vec<String>),
}

impl Answer {
    pub(crate) fn id(&self, prefix: &str) -> String {
        format!("{prefix}probe{:04}", self.number)
    }

    /// The word for the reason why the response ended.
    pub(crate) fn stop<'w>(&self, text: &'w str, call: &'w str, filter: &'w str) -> &'w str {
        match &self.said {
            _ if self.is_filtered => filter,
            Said::Text(_) => text,
            Said::Call(_) => call,
        }
    }
}

/// A response to a request.
pub(super) fn response(dialect: Dialect, framing: Framing, answer: &Answer) -> Reply {
    let service = dialect.service();
    let events = service.events;
    if matches!(framing, Framing::Whole | Framing::ByBody) {
        return Reply::json(200, &(service.whole)(answer));
    }
    let (kind, frames) = match framing {
        Framing::Messages => {
            let write = |(name, data): Event| event_stream::event(name, data.to_string().as_bytes());
            ("application/vnd.amazon.eventstream", events(answer).into_iter().map(write).collect())
        }
        Framing::Array => ("application/json; charset=UTF-8", array(events(answer))),
        _ => ("text/event-stream", sse(events(answer), service.stream_end)),
    };
    Reply { status: 200, kind, headers: Vec::new(), frames, stream: Some((dialect, framing)) }
}

/// The error of a provider with a status, whatever the request holds.
pub(super) fn failure(dialect: Option<Dialect>, status: u16) -> Reply {
    dialect.map_or(openai_chat::failure as fn(u16) -> Reply, |dialect| dialect.service().failure)(status)
}

/// The events of a response over a WebSocket: the data of each.
pub(super) fn messages(answer: &Answer) -> Vec<Value> {
    openai_responses::events(answer).into_iter().map(|(_, data)| data).collect()
}

fn sse(events: Vec<Event>, end: Option<&str>) -> Vec<Vec<u8>> {
    let write = |(name, data): Event| match name {
        "" => format!("data: {data}\n\n").into_bytes(),
        name => format!("event: {name}\ndata: {data}\n\n").into_bytes(),
    };
    events.into_iter().map(write).chain(end.map(|end| end.as_bytes().to_vec())).collect()
}

/// An event stream whose events have no names.
pub(crate) fn unnamed(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat()
}

fn array(events: Vec<Event>) -> Vec<Vec<u8>> {
    let write =
        |(index, (_, data)): (usize, Event)| format!("{}{data}", if index == 0 { "[" } else { ",\r\n" }).into_bytes();
    let mut frames: Vec<Vec<u8>> = events.into_iter().enumerate().map(write).collect();
    frames.push(b"\n]\n".to_vec());
    frames
}
