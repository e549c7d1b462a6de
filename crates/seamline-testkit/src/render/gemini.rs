//! Google's generateContent.

use serde_json::{Map, Value, json};

use super::TOOL_NAMES;
use crate::transcript::{Block, Call, CallResult, Ending, Input, Message, Role, Shape, Transcript};

/// The whole body. System messages inside the conversation become user messages.
pub(crate) fn body(transcript: &Transcript) -> Value {
    let declare = |name| json!({"name": name, "parameters": {"type": "object"}});
    let messages = &transcript.messages;
    let contents: Vec<Value> = (0..messages.len()).map(|at| content(&messages[..at], &messages[at])).collect();
    let mut body = Map::new();
    body.insert("tools".into(), json!([{"functionDeclarations": TOOL_NAMES.map(declare)}]));
    body.insert("contents".into(), json!(contents));
    if let Some(system) = &transcript.system {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": system}]}));
    }
    Value::Object(body)
}

fn content(before: &[Message], message: &Message) -> Value {
    let role = if message.role == Role::Assistant { "model" } else { "user" };
    let parts: Vec<Value> = message.blocks.iter().filter_map(|block| part(before, block)).collect();
    json!({"role": role, "parts": parts})
}

fn part(before: &[Message], block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({"text": text})),
        Block::Image(data) => Some(json!({"inlineData": {"mimeType": "image/png", "data": data}})),
        Block::Thinking { text, signature } => {
            Some(json!({"text": text, "thought": true, "thoughtSignature": signature}))
        }
        Block::Call(call) => Some(self::call(call)),
        Block::Result(result) => Some(self::result(before, result)),
        Block::ServerCall(_) | Block::ServerResult(_) | Block::CachePoint => None,
    }
}

fn call(call: &Call) -> Value {
    let (Input::Object(input) | Input::Verbatim(input)) = &call.input;
    let mut fields = Map::new();
    fields.insert("name".into(), json!(call.name));
    fields.insert("args".into(), input.clone());
    if let Some(id) = &call.id {
        fields.insert("id".into(), json!(id));
    }
    json!({"functionCall": fields})
}

/// A result with the tool name of the call before it.
fn result(before: &[Message], result: &CallResult) -> Value {
    let response = match (result.ending, result.shape) {
        (Ending::Failed, _) => json!({"error": result.output}),
        (Ending::Done, Shape::Text) => json!({"output": result.output}),
        (Ending::Done, Shape::Blocks) => json!({"code": 0, "output": result.output}),
    };
    let mut calls = before.iter().rev().flat_map(Message::calls);
    let called = calls.find(|call| call.id.is_some() && call.id == result.id).map(|call| &call.name);
    let mut fields = Map::new();
    fields.insert("response".into(), response);
    fields.extend(result.id.iter().map(|id| ("id".to_owned(), json!(id))));
    fields.extend(result.name.as_ref().or(called).map(|name| ("name".to_owned(), json!(name))));
    json!({"functionResponse": fields})
}
