//! The Vercel AI SDK: messages of its user interface, with parts that have a type.

mod read;
mod write;

use crate::Program;
use crate::sample::{Sample, has, says};
use crate::session::Format;
use serde_json::Value;

pub(super) const PROGRAM: Program = Program {
    advice: "`convertToModelMessages` makes model messages of them; give the request body that the SDK sends",
    ..Program::of_sessions("Vercel AI SDK", "a list of UI messages of the Vercel AI SDK", detect, &FORMAT)
};

/// Model messages, which the SDK turns into a request body. A part of a message is a call or a result.
pub(super) const MODEL_MESSAGES: Program = Program {
    name: "Vercel AI SDK",
    what: "a list of model messages of the Vercel AI SDK",
    places: &[],
    extract: None,
    advice: "nothing is changed; `repairModelMessages` of the package for Node.js repairs them in their own form",
    detect: is_model_messages,
    session: None,
    bodies: None,
};

static FORMAT: Format = Format { write: Some(write::write), ..Format::of_list(read::read) };

fn is_model_messages(sample: &Sample<'_>) -> bool {
    let is_pair =
        |part: &Value| says(part, "type", &["tool-call", "tool-result"]) && has(part, &["toolCallId", "toolName"]);
    let parts = |message: &Value| message.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_foreign = |message: &Value| {
        let members = ["tool_calls", "tool_call_id", "parts"];
        message.get("role").is_none() || members.iter().any(|member| message.get(member).is_some())
    };
    let messages = sample.list("messages");
    let is_body = sample.root().get("model").is_some();
    !is_body && !messages.iter().any(is_foreign) && messages.iter().any(|message| parts(message).iter().any(is_pair))
}

fn detect(sample: &Sample<'_>) -> bool {
    let is_typed = |part: &Value| has(part, &["type"]);
    sample.list("messages").iter().any(|message| {
        let parts = message.get("parts").and_then(Value::as_array);
        has(message, &["id", "role"]) && parts.is_some_and(|parts| parts.iter().any(is_typed))
    })
}
