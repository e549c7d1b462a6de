//! Anthropic's Messages API.

use serde_json::{Map, Value, json};

use super::TOOL_NAMES;
use crate::transcript::{Block, Call, CallResult, Ending, Input, Message, Role, Shape, Transcript};

/// The whole body.
pub(crate) fn body(transcript: &Transcript) -> Value {
    let tools = TOOL_NAMES.map(|name| json!({"name": name, "input_schema": {"type": "object"}}));
    let messages: Vec<Value> = transcript.messages.iter().map(message).collect();
    let mut body = Map::new();
    body.insert("model".into(), json!("claude-opus-4-5"));
    body.insert("max_tokens".into(), json!(1024));
    body.insert("tools".into(), json!(tools));
    body.insert("messages".into(), json!(messages));
    if let Some(system) = &transcript.system {
        body.insert("system".into(), json!(system));
    }
    Value::Object(body)
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content = match (message.shape, message.blocks.as_slice()) {
        (Shape::Text, []) => json!(""),
        (Shape::Text, [Block::Text(text)]) => json!(text),
        (_, blocks) => blocks.iter().map(block).collect(),
    };
    json!({"role": role, "content": content})
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Image(data) => {
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
        }
        Block::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Block::Call(call) => self::call(call),
        Block::Result(result) => self::result(result),
        Block::ServerCall(id) => {
            json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "seam"}})
        }
        // Cache marks are members here.
        Block::CachePoint => Value::Null,
        Block::ServerResult(id) => {
            json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
        }
    }
}

fn call(call: &Call) -> Value {
    let (Input::Object(input) | Input::Verbatim(input)) = &call.input;
    let mut fields = Map::new();
    fields.insert("type".into(), json!("tool_use"));
    fields.insert("name".into(), json!(call.name));
    fields.insert("input".into(), input.clone());
    if let Some(id) = &call.id {
        fields.insert("id".into(), json!(id));
    }
    Value::Object(fields)
}

fn result(result: &CallResult) -> Value {
    let content = match result.shape {
        Shape::Text => json!(result.output),
        Shape::Blocks => json!([{"type": "text", "text": result.output}]),
    };
    let mut fields = Map::new();
    fields.insert("type".into(), json!("tool_result"));
    fields.insert("content".into(), content);
    if let Some(id) = &result.id {
        fields.insert("tool_use_id".into(), json!(id));
    }
    if result.ending == Ending::Failed {
        fields.insert("is_error".into(), json!(true));
    }
    Value::Object(fields)
}
