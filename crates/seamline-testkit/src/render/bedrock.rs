//! AWS Bedrock's Converse API.

use serde_json::{Map, Value, json};

use super::TOOL_NAMES;
use crate::transcript::{Block, Call, CallResult, Ending, Input, Message, Role, Shape, Transcript};

/// The whole body.
pub(crate) fn body(transcript: &Transcript) -> Value {
    let declare = |name| json!({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}});
    let messages: Vec<Value> = transcript.messages.iter().map(message).collect();
    let mut body = Map::new();
    body.insert("toolConfig".into(), json!({"tools": TOOL_NAMES.map(declare)}));
    body.insert("messages".into(), json!(messages));
    if let Some(system) = &transcript.system {
        body.insert("system".into(), json!([{"text": system}]));
    }
    Value::Object(body)
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content: Vec<Value> = message.blocks.iter().filter_map(block).collect();
    json!({"role": role, "content": content})
}

fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({"text": text})),
        Block::Image(data) => Some(json!({"image": {"format": "png", "source": {"bytes": data}}})),
        Block::Thinking { text, signature } => {
            Some(json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}))
        }
        Block::Call(call) => Some(self::call(call)),
        Block::Result(result) => Some(self::result(result)),
        Block::CachePoint => Some(json!({"cachePoint": {"type": "default"}})),
        Block::ServerCall(_) | Block::ServerResult(_) => None,
    }
}

fn call(call: &Call) -> Value {
    let (Input::Object(input) | Input::Verbatim(input)) = &call.input;
    let mut fields = Map::new();
    fields.insert("name".into(), json!(call.name));
    fields.insert("input".into(), input.clone());
    if let Some(id) = &call.id {
        fields.insert("toolUseId".into(), json!(id));
    }
    json!({"toolUse": fields})
}

fn result(result: &CallResult) -> Value {
    let part = match result.shape {
        Shape::Text => json!({"text": result.output}),
        Shape::Blocks => json!({"json": {"output": result.output}}),
    };
    let mut fields = Map::new();
    fields.insert("content".into(), json!([part]));
    if let Some(id) = &result.id {
        fields.insert("toolUseId".into(), json!(id));
    }
    if result.ending == Ending::Failed {
        fields.insert("status".into(), json!("error"));
    }
    json!({"toolResult": fields})
}
