//! A provider that plays a script and rejects every body that the real provider rejects.

use std::collections::VecDeque;
use std::time::Duration;

use seamline_testkit::{Dialect, strict};
use serde_json::{Value, json};

/// The reply to a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// An error instead of a response.
    Failed { status: u16, headers: Vec<(String, String)>, text: String },
    /// A response in pieces, each with the time that passes before it.
    Stream(Vec<(Duration, String)>),
}

impl Reply {
    pub(crate) fn failed(status: u16, headers: &[(&str, &str)], text: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self::Failed { status, headers, text: text.to_owned() }
    }

    /// A complete response.
    pub(crate) fn stream(blocks: &[Value], stop_reason: &str) -> Self {
        let end = json!({"stop_reason": stop_reason, "stop_sequence": null});
        Self::paced(events(blocks, Some(&end)), Duration::from_millis(100))
    }

    /// A response that stalls: only pings follow.
    pub(crate) fn stalled(text: &str) -> Self {
        let mut events = events(&[said(text)], None);
        events.truncate(3);
        events.extend((0..80).map(|_| event(&json!({"type": "ping"}))));
        Self::paced(events, Duration::from_secs(5))
    }

    /// A response whose connection ends too early.
    pub(crate) fn cut(blocks: &[Value]) -> Self {
        Self::paced(events(blocks, None), Duration::from_millis(100))
    }

    /// A response with an error event in the middle.
    pub(crate) fn failing(blocks: &[Value], kind: &str, message: &str) -> Self {
        let mut events = events(blocks, None);
        events.push(event(&json!({"type": "error", "error": {"type": kind, "message": message}})));
        Self::paced(events, Duration::from_millis(100))
    }

    /// A response that reaches its length limit inside its last call.
    pub(crate) fn limited(blocks: &[Value], id: &str, name: &str, partial: &str) -> Self {
        let mut events = events(blocks, None);
        let (start, delta) =
            (tool_use(id, name, &json!({})), json!({"type": "input_json_delta", "partial_json": partial}));
        let index = blocks.len();
        events.push(event(&json!({"type": "content_block_start", "index": index, "content_block": start})));
        events.push(event(&json!({"type": "content_block_delta", "index": index, "delta": delta})));
        events.push(event(&json!({"type": "content_block_stop", "index": index})));
        events.extend(closing(&json!({"stop_reason": "max_tokens", "stop_sequence": null})));
        Self::paced(events, Duration::from_millis(100))
    }

    /// A response that the provider itself stops in the middle.
    pub(crate) fn refusal(text: &str, category: &str) -> Self {
        let details = json!({"type": "refusal", "category": category, "explanation": "this looks like an attack"});
        let end = json!({"stop_reason": "refusal", "stop_sequence": null, "stop_details": details});
        Self::paced(events(&[said(text)], Some(&end)), Duration::from_millis(100))
    }

    fn paced(events: Vec<String>, between: Duration) -> Self {
        Self::Stream(events.into_iter().map(|event| (between, event)).collect())
    }
}

/// A block of text.
pub(crate) fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A block with a call.
pub(crate) fn tool_use(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

pub(crate) struct Scripted {
    script: VecDeque<Reply>,
    requests: Vec<Vec<u8>>,
    rejected: usize,
}

impl Scripted {
    pub(crate) fn new(script: Vec<Reply>) -> Self {
        Self { script: script.into(), requests: Vec::new(), rejected: 0 }
    }

    /// The bodies of all requests.
    pub(crate) fn requests(&self) -> &[Vec<u8>] {
        &self.requests
    }

    /// The number of rejected requests.
    pub(crate) fn rejected(&self) -> usize {
        self.rejected
    }

    pub(crate) fn is_over(&self) -> bool {
        self.script.is_empty()
    }

    pub(crate) fn send(&mut self, body: &[u8]) -> Reply {
        self.requests.push(body.to_vec());
        if let Some(text) = Self::judge(body) {
            self.rejected += 1;
            let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}});
            return Reply::failed(400, &[], &error.to_string());
        }
        self.script.pop_front().unwrap_or_else(|| Reply::failed(404, &[], "the script is over"))
    }

    /// The error of the real provider for a body; `None` when it accepts it.
    pub(crate) fn judge(body: &[u8]) -> Option<String> {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let violation = strict::check(Dialect::AnthropicMessages, &body).into_iter().next()?;
        let place = violation.message;
        if violation.kind != strict::ViolationKind::UnansweredCall {
            return Some(format!("messages.{place}: {:?}", violation.kind));
        }
        let ids: Vec<_> = body["messages"][place]["content"].as_array().into_iter().flatten().collect();
        let ids: Vec<_> = ids.iter().filter_map(|block| block["id"].as_str()).collect();
        Some(format!(
            "messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message.",
            ids.join(", ")
        ))
    }
}

/// The events of a stream, with or without its end.
fn events(blocks: &[Value], end: Option<&Value>) -> Vec<String> {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
    let mut events = vec![event(&json!({"type": "message_start", "message": message}))];
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = begun(block);
        events.push(event(&json!({"type": "content_block_start", "index": index, "content_block": start})));
        events.push(event(&json!({"type": "content_block_delta", "index": index, "delta": delta})));
        events.push(event(&json!({"type": "content_block_stop", "index": index})));
    }
    events.extend(end.into_iter().flat_map(closing));
    events
}

/// The events that end a stream.
fn closing(end: &Value) -> [String; 2] {
    [
        event(&json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 9}})),
        event(&json!({"type": "message_stop"})),
    ]
}

/// The start of a block, and the rest of it.
fn begun(block: &Value) -> (Value, Value) {
    let mut start = block.clone();
    if block["type"] == "text" {
        start["text"] = json!("");
        (start, json!({"type": "text_delta", "text": block["text"]}))
    } else {
        start["input"] = json!({});
        (start, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
    }
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
