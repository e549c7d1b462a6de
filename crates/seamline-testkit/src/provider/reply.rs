//! Responses in every dialect, streamed or whole.

mod anthropic;
mod bedrock;
mod failure;
mod gemini;
mod interactions;
mod openai_chat;
mod openai_responses;

use serde_json::{Value, json};

use super::event_stream;
use super::http::Headers;
use super::route::Framing;
use super::tools::ToolCall;
use crate::Dialect;

pub(super) use failure::failure;

/// The text of a response without a tool call.
pub(super) const DONE: &str = "The probe ran.";

/// An event of a stream: its name, if its dialect names events, and its data.
type Event = (&'static str, Value);

/// A response.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) headers: Headers,
    /// The frames of the body; a response that does not stream has one.
    pub(super) frames: Vec<Vec<u8>>,
    pub(super) stream: Option<(Dialect, Framing)>,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let frames = vec![body.to_string().into_bytes()];
        Self { status, kind: "application/json", headers: Vec::new(), frames, stream: None }
    }

    pub(super) fn with_header(mut self, name: &str, value: &str) -> Self {
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
pub(super) struct Answer {
    /// The number of the response, which makes its ids unique.
    pub(super) number: usize,
    pub(super) said: Said,
    /// Whether a content filter ends the response.
    pub(super) is_filtered: bool,
}

/// The content of a response of the model.
pub(super) enum Said {
    /// A call of a tool.
    Call(ToolCall),
    /// A text in pieces.
    Text(Vec<String>),
}

impl Answer {
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}probe{:04}", self.number)
    }

    /// The word for the reason why the response ended.
    fn stop<'w>(&self, text: &'w str, call: &'w str, filter: &'w str) -> &'w str {
        match &self.said {
            _ if self.is_filtered => filter,
            Said::Text(_) => text,
            Said::Call(_) => call,
        }
    }
}

/// The writers of a dialect: a whole response, and the events of a streamed one.
type Writers = (fn(&Answer) -> Value, fn(&Answer) -> Vec<Event>);

/// A response to a request.
pub(super) fn response(dialect: Dialect, framing: Framing, answer: &Answer) -> Reply {
    let (whole, events): Writers = match dialect {
        Dialect::AnthropicMessages => (anthropic::whole, anthropic::events),
        Dialect::OpenAiChat => (openai_chat::whole, openai_chat::events),
        Dialect::OpenAiResponses => (openai_responses::whole, openai_responses::events),
        Dialect::GeminiGenerate => (gemini::whole, gemini::events),
        Dialect::GeminiInteractions => (interactions::whole, interactions::events),
        Dialect::BedrockConverse => (bedrock::whole, bedrock::events),
    };
    if matches!(framing, Framing::Whole | Framing::ByBody) {
        return Reply::json(200, &whole(answer));
    }
    let (kind, frames) = match framing {
        Framing::Messages => {
            let write = |(name, data): Event| event_stream::event(name, data.to_string().as_bytes());
            ("application/vnd.amazon.eventstream", events(answer).into_iter().map(write).collect())
        }
        Framing::Array => ("application/json; charset=UTF-8", array(events(answer))),
        _ => ("text/event-stream", sse(dialect, events(answer))),
    };
    Reply { status: 200, kind, headers: Vec::new(), frames, stream: Some((dialect, framing)) }
}

/// The events of a response over a WebSocket: the data of each.
pub(super) fn messages(answer: &Answer) -> Vec<Value> {
    openai_responses::events(answer).into_iter().map(|(_, data)| data).collect()
}

fn sse(dialect: Dialect, events: Vec<Event>) -> Vec<Vec<u8>> {
    let write = |(name, data): Event| match name {
        "" => format!("data: {data}\n\n").into_bytes(),
        name => format!("event: {name}\ndata: {data}\n\n").into_bytes(),
    };
    let end = match dialect {
        Dialect::OpenAiChat => Some("data: [DONE]\n\n"),
        Dialect::GeminiInteractions => Some("event: done\ndata: [DONE]\n\n"),
        _ => None,
    };
    events.into_iter().map(write).chain(end.map(|end| end.as_bytes().to_vec())).collect()
}

fn array(events: Vec<Event>) -> Vec<Vec<u8>> {
    let write =
        |(index, (_, data)): (usize, Event)| format!("{}{data}", if index == 0 { "[" } else { ",\r\n" }).into_bytes();
    let mut frames: Vec<Vec<u8>> = events.into_iter().enumerate().map(write).collect();
    frames.push(b"\n]\n".to_vec());
    frames
}
