//! Google's generateContent.

use serde_json::{Map, Value, json};

use super::TOOL_NAMES;
use crate::transcript::{Block, Call, CallResult, Ending, Input, Message, Role, Shape, Transcript};

/// The whole body. Who set the conversation up speaks as the user inside it.
pub(super) fn body(transcript: &Transcript) -> Value {
    let declare = |name| json!({"name": name, "parameters": {"type": "object"}});
    let contents: Vec<Value> = transcript.messages.iter().map(|message| content(transcript, message)).collect();
    let mut body = Map::new();
    body.insert("tools".into(), json!([{"functionDeclarations": TOOL_NAMES.map(declare)}]));
    body.insert("contents".into(), json!(contents));
    if let Some(system) = &transcript.system {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": system}]}));
    }
    Value::Object(body)
}

fn content(transcript: &Transcript, message: &Message) -> Value {
    let role = if message.role == Role::Assistant { "model" } else { "user" };
    let parts: Vec<Value> = message.blocks.iter().filter_map(|block| part(transcript, block)).collect();
    json!({"role": role, "parts": parts})
}

fn part(transcript: &Transcript, block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({"text": text})),
        Block::Image(data) => Some(json!({"inlineData": {"mimeType": "image/png", "data": data}})),
        Block::Thinking { text, signature } => {
            Some(json!({"text": text, "thought": true, "thoughtSignature": signature}))
        }
        Block::Call(call) => Some(self::call(call)),
        Block::Result(result) => Some(self::result(transcript, result)),
        Block::ServerCall(_) | Block::ServerResult(_) => None,
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

/// A result of a call that has an id names both; of another one, the tool alone.
fn result(transcript: &Transcript, result: &CallResult) -> Value {
    let response = match (result.ending, result.shape) {
        (Ending::Failed, _) => json!({"error": result.output}),
        (Ending::Done, Shape::Text) => json!({"output": result.output}),
        (Ending::Done, Shape::Blocks) => json!({"code": 0, "output": result.output}),
    };
    let mut fields = Map::new();
    fields.insert("response".into(), response);
    if let Some(id) = &result.id {
        let mut calls = transcript.messages.iter().flat_map(Message::calls);
        if let Some(call) = calls.find(|call| call.id.as_ref() == Some(id)) {
            fields.insert("id".into(), json!(id));
            fields.insert("name".into(), json!(call.name));
        } else {
            fields.insert("name".into(), json!(id));
        }
    }
    json!({"functionResponse": fields})
}
