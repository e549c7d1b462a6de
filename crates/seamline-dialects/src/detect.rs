//! Which dialect a body is written in.

use std::ops::ControlFlow;

use crate::json::{Document, Kind, ListVisitor, Value};
use crate::reader::unreadable;
use crate::{Dialect, Error, anthropic_messages::AnthropicMessages, openai_chat::OpenAiChat};

/// How many messages are looked at.
const MESSAGES_MAX: usize = 256;

/// A sign of one dialect that the other does not have.
const DECISIVE: i32 = 10;

/// The dialect a body is written in, judged by its fields; the first decisive one counts.
/// A conversation of plain text alone is taken for the more widely spoken one.
///
/// # Errors
///
/// When the body is not JSON, as far as it was looked at.
pub fn detect(body: &[u8]) -> Result<&'static dyn Dialect, Error> {
    let mut signs = Signs::default();
    let envelope = Document::read_list(body, &mut signs).map_err(|syntax| unreadable(body, syntax))?;
    let score = if signs.is_decisive() { signs.score } else { signs.score + envelope_score(envelope.root()) };
    Ok(if score > 0 { &AnthropicMessages } else { &OpenAiChat })
}

/// What the messages seen so far say; above zero for Anthropic.
#[derive(Default)]
struct Signs {
    score: i32,
    seen: usize,
}

impl Signs {
    fn is_decisive(&self) -> bool {
        self.score.abs() >= DECISIVE
    }
}

impl<'a> ListVisitor<'a> for &mut Signs {
    fn enter(&mut self, key: Option<&str>) -> bool {
        key.is_none_or(|key| key == "messages")
    }

    fn element(&mut self, value: Value<'_, 'a>) -> ControlFlow<()> {
        self.seen += 1;
        if self.seen <= MESSAGES_MAX {
            self.score += message_score(value);
        }
        if self.is_decisive() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Signs in the envelope; above zero for Anthropic.
fn envelope_score(root: Value<'_, '_>) -> i32 {
    root.members().map(|(key, value)| envelope_member_score(key.raw_str(), value)).sum()
}

fn envelope_member_score(key: &str, value: Value<'_, '_>) -> i32 {
    match key {
        "anthropic_version" | "anthropic_beta" => DECISIVE,
        "system" | "stop_sequences" => 3,
        // Also taken by servers of the other dialect.
        "thinking" => 1,
        "max_completion_tokens"
        | "stream_options"
        | "response_format"
        | "frequency_penalty"
        | "parallel_tool_calls"
        | "logprobs"
        | "reasoning_effort"
        | "functions" => -3,
        "model" => model_score(value.raw_str()),
        "tools" => value.elements().next().map_or(0, tool_score),
        _ => 0,
    }
}

fn model_score(model: &str) -> i32 {
    if model.starts_with("claude") { 2 } else { 0 }
}

fn tool_score(tool: Value<'_, '_>) -> i32 {
    let Some(tool) = tool.object() else { return 0 };
    if tool.get("function").is_some() {
        -DECISIVE
    } else if tool.get("input_schema").is_some() {
        DECISIVE
    } else {
        0
    }
}

fn message_score(message: Value<'_, '_>) -> i32 {
    message.members().map(|(key, value)| message_member_score(key.raw_str(), value)).sum()
}

fn message_member_score(key: &str, value: Value<'_, '_>) -> i32 {
    match (key, value.kind()) {
        ("tool_calls" | "function_call" | "tool_call_id" | "reasoning_content", kind) if kind != Kind::Null => {
            -DECISIVE
        }
        ("role", _) => match value.raw_str() {
            "tool" | "function" | "developer" => -DECISIVE,
            "system" => -1,
            _ => 0,
        },
        ("content", Kind::Array) => value.elements().map(block_score).sum(),
        _ => 0,
    }
}

fn block_score(block: Value<'_, '_>) -> i32 {
    let kind = block.object().and_then(|block| block.get("type"));
    match kind.map(Value::raw_str) {
        Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use") => DECISIVE,
        Some("image_url" | "input_audio" | "file") => -DECISIVE,
        Some("image" | "document") => 3,
        _ => 0,
    }
}
