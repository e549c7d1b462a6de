//! `OpenAI`'s Responses API.

use serde_json::{Map, Value, json};

use super::TOOL_NAMES;
use crate::{
    text::{self, Style},
    transcript::{Block, Call, CallResult, Input, Message, Role, Shape, Transcript},
};

/// The whole body.
pub(crate) fn body(transcript: &Transcript) -> Value {
    let declare = |name| json!({"type": "function", "name": name, "parameters": {"type": "object"}});
    let system = transcript.system.iter().map(|text| json!({"role": "system", "content": text}));
    let items: Vec<Value> = system.chain(transcript.messages.iter().flat_map(split)).collect();
    json!({"model": "gpt-5", "tools": TOOL_NAMES.map(declare), "input": items})
}

/// One item per call, result and reasoning block, and one per run of text and images, in order.
fn split(message: &Message) -> Vec<Value> {
    if message.blocks.is_empty() {
        return vec![speech(message, &[])];
    }
    let is_said = |block: &Block| matches!(block, Block::Text(_) | Block::Image(_));
    let stretches = message.blocks.chunk_by(|left, right| is_said(left) && is_said(right));
    let items = stretches.filter_map(|stretch| match stretch {
        [Block::Call(call)] => Some(self::call(call)),
        [Block::Result(result)] => Some(self::result(result)),
        [Block::Thinking { text, signature }] => Some(json!({
            "type": "reasoning", "id": format!("rs_{signature}"), "encrypted_content": signature,
            "summary": [{"type": "summary_text", "text": text}],
        })),
        [Block::ServerCall(id)] => {
            Some(json!({"type": "web_search_call", "id": format!("ws_{id}"), "status": "completed"}))
        }
        // The item of the call includes the result.
        [Block::ServerResult(_) | Block::CachePoint] => None,
        stretch => Some(speech(message, stretch)),
    });
    let mut items: Vec<Value> = items.collect();
    name(&mut items);
    items
}

/// Gives an id to the item after reasoning that has an id, as the provider demands.
fn name(items: &mut [Value]) {
    let mut reasoning = None;
    for (index, item) in items.iter_mut().enumerate() {
        if item["type"] == "reasoning" {
            reasoning = item["encrypted_content"].as_str().map(str::to_owned);
            continue;
        }
        let start = match item["type"].as_str() {
            Some("function_call") => "fc",
            None => "msg",
            _ => continue,
        };
        if let (Some(signature), Some(fields)) = (&reasoning, item.as_object_mut()) {
            fields.insert("id".into(), json!(format!("{start}_{signature}_{index}")));
        }
    }
}

fn speech(message: &Message, blocks: &[Block]) -> Value {
    let (role, kind) = match message.role {
        Role::System => ("system", "input_text"),
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    let part = |block: &Block| match block {
        Block::Text(text) => json!({"type": kind, "text": text}),
        Block::Image(data) => {
            json!({"type": "input_image", "image_url": format!("data:image/png;base64,{data}")})
        }
        _ => Value::Null,
    };
    let content = match (message.shape, blocks) {
        (Shape::Text, []) => json!(""),
        (Shape::Text, [Block::Text(text)]) => json!(text),
        (_, blocks) => blocks.iter().map(part).collect(),
    };
    json!({"role": role, "content": content})
}

fn call(Call { id, name, input }: &Call) -> Value {
    let arguments = match input {
        Input::Object(input) => json!(text::write(input, Style::COMPACT)),
        Input::Verbatim(input) => input.clone(),
    };
    let mut fields = Map::new();
    fields.insert("type".into(), json!("function_call"));
    fields.insert("name".into(), json!(name));
    fields.insert("arguments".into(), arguments);
    if let Some(id) = id {
        fields.insert("call_id".into(), json!(id));
    }
    Value::Object(fields)
}

fn result(result: &CallResult) -> Value {
    let output = match result.shape {
        Shape::Text => json!(result.output),
        Shape::Blocks => json!([{"type": "input_text", "text": result.output}]),
    };
    let mut fields = Map::new();
    fields.insert("type".into(), json!("function_call_output"));
    fields.insert("output".into(), output);
    if let Some(id) = &result.id {
        fields.insert("call_id".into(), json!(id));
    }
    Value::Object(fields)
}
