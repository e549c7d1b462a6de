//! Anthropic's Messages API.

use serde_json::{Value, json};

use crate::{
    dialect::{Fields, Row},
    events::{self, Event},
    generate::wire::place,
    provider::{Framing, Operation, Service, reject, reply, tools},
    render, strict,
};

pub(super) const ROW: Row = Row {
    name: "anthropic_messages",
    provider: "anthropic",
    list_key: "messages",
    content_key: "content",
    assistant_role: "assistant",
    call_id_key: "id",
    input_key: "input",
    result_id_key: "tool_use_id",
    output_key: "content",
    has_text_input: false,
    has_text_content: true,
    has_untyped_text: true,
    has_chat_fields: false,
    has_optional_ids: false,
    must_take_turns: false,
    has_results_anywhere: false,
    has_cache_blocks: false,
    body: render::anthropic::body,
    check: strict::anthropic::check,
    may_lack_list: |_| false,
    calls: |body| place::typed(body, "tool_use"),
    results: |body| place::typed(body, "tool_result"),
    add_image: |result, data, at| {
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        place::add_part(result.get_mut("content")?, "text", json!({"type": "image", "source": source}), at)
    },
    add_reasoning,
    events: |message, events| events::of_blocks(&message["content"], event, events),
    user_message: r#"{"role":"user","content":"Go on"}"#,
    envelope: r#"{"model":"m","max_tokens":64}"#,
    error_event: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    service: SERVICE,
};

const SERVICE: Service = Service {
    path: "/anthropic/v1/messages",
    stream_path: "/anthropic/v1/messages",
    short_body: r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"hello"}]}"#,
    operation: |path, _| match path {
        _ if path.ends_with("/messages/count_tokens") => Some(Operation::Count),
        _ if path.ends_with("/messages") => Some(Operation::Respond(Framing::ByBody)),
        _ if path.ends_with("/invoke") && path.contains("anthropic.claude") => Some(Operation::Respond(Framing::Whole)),
        _ => None,
    },
    token_count: || json!({"input_tokens": 1}),
    tools: |body| tools::listed(&body["tools"], "input_schema"),
    words: reject::anthropic::words,
    not_json: reject::anthropic::not_json,
    reject: reject::anthropic::reply,
    failure: reply::anthropic::failure,
    whole: reply::anthropic::whole,
    events: reply::anthropic::events,
    stream_end: None,
    call_stream: reply::anthropic::call_stream,
};

fn add_reasoning(message: &mut Fields, said: &str, signature: Option<String>) -> Option<()> {
    let mut thinking = json!({"type": "thinking", "thinking": said});
    if let Some(signature) = signature {
        thinking["signature"] = json!(signature);
    }
    let content = message.get_mut("content")?;
    match content {
        Value::Array(blocks) => blocks.insert(0, thinking),
        Value::String(text) if text.is_empty() => *content = json!([thinking]),
        Value::String(text) => *content = json!([thinking, {"type": "text", "text": text}]),
        _ => return None,
    }
    Some(())
}

fn event(block: &Value) -> Event {
    match block["type"].as_str() {
        Some("tool_use") => Event::call(&block["id"], &block["name"], &block["input"]),
        Some("tool_result") => {
            Event::result(&block["tool_use_id"], events::said(&block["content"]), block["is_error"] == true)
        }
        _ => Event::Other,
    }
}
