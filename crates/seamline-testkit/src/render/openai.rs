//! `OpenAI`'s Chat Completions API.

use serde_json::{Map, Value, json};

use super::TOOL_NAMES;
use crate::{
    text::{self, Style},
    transcript::{Block, Call, CallList, CallResult, Input, Message, Role, Shape, Transcript},
};

/// The whole body.
pub(crate) fn body(transcript: &Transcript) -> Value {
    let declare = |name| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
    let system = transcript.system.iter().map(|text| json!({"role": "system", "content": text}));
    let messages: Vec<Value> = system.chain(transcript.messages.iter().flat_map(split)).collect();
    json!({"model": "gpt-4o", "tools": TOOL_NAMES.map(declare), "messages": messages})
}

/// One wire message per result, and one per run of other blocks, in order.
fn split(message: &Message) -> Vec<Value> {
    if message.blocks.is_empty() {
        return vec![speech(message, &[])];
    }
    let is_result = |block: &Block| matches!(block, Block::Result(_));
    let stretches = message.blocks.chunk_by(|left, right| !is_result(left) && !is_result(right));
    stretches
        .map(|stretch| match stretch {
            [Block::Result(result)] => answer(message.role, result),
            stretch => speech(message, stretch),
        })
        .collect()
}

/// A result. Outside of a user message it keeps the wrong role of its message.
fn answer(role: Role, result: &CallResult) -> Value {
    let role = match role {
        Role::User => "tool",
        Role::Assistant => "assistant",
        Role::System => "system",
    };
    let content = match result.shape {
        Shape::Text => json!(result.output),
        Shape::Blocks => json!([{"type": "text", "text": result.output}]),
    };
    let mut fields = Map::new();
    fields.insert("role".into(), json!(role));
    fields.insert("content".into(), content);
    if let Some(id) = &result.id {
        fields.insert("tool_call_id".into(), json!(id));
    }
    Value::Object(fields)
}

fn speech(message: &Message, blocks: &[Block]) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let calls: Vec<Value> = blocks.iter().filter_map(call).collect();
    let mut fields = Map::new();
    fields.insert("role".into(), json!(role));
    fields.insert("content".into(), content(message, blocks, &calls));
    if !calls.is_empty() || message.call_list == CallList::Always {
        fields.insert("tool_calls".into(), json!(calls));
    }
    Value::Object(fields)
}

fn content(message: &Message, blocks: &[Block], calls: &[Value]) -> Value {
    let parts: Vec<Value> = blocks.iter().filter_map(part).collect();
    let texts: Vec<&Block> = blocks.iter().filter(|block| matches!(block, Block::Text(_))).collect();
    match (message.shape, texts.as_slice()) {
        (Shape::Text, [Block::Text(text)]) if parts.len() == 1 => json!(text),
        (Shape::Text, []) if parts.is_empty() && calls.is_empty() => json!(""),
        _ if parts.is_empty() => Value::Null,
        _ => json!(parts),
    }
}

fn part(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::Image(data) => {
            let url = format!("data:image/png;base64,{data}");
            Some(json!({"type": "image_url", "image_url": {"url": url}}))
        }
        Block::Thinking { .. }
        | Block::Call(_)
        | Block::Result(_)
        | Block::ServerCall(_)
        | Block::ServerResult(_)
        | Block::CachePoint => None,
    }
}

fn call(block: &Block) -> Option<Value> {
    let Block::Call(Call { id, name, input }) = block else {
        return None;
    };
    let arguments = match input {
        Input::Object(input) => json!(text::write(input, Style::COMPACT)),
        Input::Verbatim(input) => input.clone(),
    };
    let mut fields = Map::new();
    fields.insert("type".into(), json!("function"));
    fields.insert("function".into(), json!({"name": name, "arguments": arguments}));
    if let Some(id) = id {
        fields.insert("id".into(), json!(id));
    }
    Some(Value::Object(fields))
}
