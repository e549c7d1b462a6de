//! AWS Bedrock's Converse API.

use serde_json::{Value, json};

use crate::{
    dialect::Row,
    events::{self, Event},
    generate::wire::place,
    provider::{Framing, Operation, Service, reject, reply},
    render, strict,
};

pub(super) const ROW: Row = Row {
    name: "bedrock_converse",
    provider: "bedrock",
    list_key: "messages",
    content_key: "content",
    assistant_role: "assistant",
    call_id_key: "toolUseId",
    input_key: "input",
    result_id_key: "toolUseId",
    output_key: "content",
    has_text_input: false,
    has_text_content: false,
    has_untyped_text: true,
    has_chat_fields: false,
    has_optional_ids: false,
    must_take_turns: true,
    has_results_anywhere: false,
    has_cache_blocks: true,
    body: render::bedrock::body,
    check: strict::bedrock::check,
    may_lack_list: |_| false,
    calls: |body| place::named(body, "content", "toolUse"),
    results: |body| place::named(body, "content", "toolResult"),
    add_image: |result, data, at| {
        let image = json!({"image": {"format": "png", "source": {"bytes": data}}});
        place::add_part(result.get_mut("content")?, "text", image, at)
    },
    add_reasoning: |message, said, signature| {
        let mut text = json!({"text": said});
        if let Some(signature) = signature {
            text["signature"] = json!(signature);
        }
        let blocks = message.get_mut("content")?.as_array_mut()?;
        blocks.insert(0, json!({"reasoningContent": {"reasoningText": text}}));
        Some(())
    },
    events: |message, events| events::of_blocks(&message["content"], event, events),
    user_message: r#"{"role":"user","content":[{"text":"Go on"}]}"#,
    envelope: "{}",
    error_event: "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\n",
    service: SERVICE,
};

const SERVICE: Service = Service {
    path: "/bedrock/model/anthropic.claude-v1%3A0/converse",
    stream_path: "/bedrock/model/anthropic.claude-v1%3A0/converse-stream",
    short_body: r#"{"messages":[{"role":"user","content":[{"text":"hello"}]}]}"#,
    operation: |path, _| match path {
        _ if path.ends_with("/converse") => Some(Operation::Respond(Framing::Whole)),
        _ if path.ends_with("/converse-stream") => Some(Operation::Respond(Framing::Messages)),
        _ => None,
    },
    token_count: || json!({"input_tokens": 1}),
    tools: |body| {
        let specs = body["toolConfig"]["tools"].as_array().into_iter().flatten().map(|tool| &tool["toolSpec"]);
        specs.filter_map(|spec| Some((spec["name"].as_str()?, &spec["inputSchema"]["json"]))).collect()
    },
    words: reject::bedrock::words,
    not_json: reject::bedrock::not_json,
    reject: reject::bedrock::reply,
    failure: reply::bedrock::failure,
    whole: reply::bedrock::whole,
    events: reply::bedrock::events,
    stream_end: None,
    call_stream: reply::bedrock::call_stream,
};

fn event(block: &Value) -> Event {
    let (call, result) = (&block["toolUse"], &block["toolResult"]);
    if call.is_object() {
        return Event::call(&call["toolUseId"], &call["name"], &call["input"]);
    }
    if !result.is_object() {
        return Event::Other;
    }
    Event::result(&result["toolUseId"], events::said(&result["content"]), result["status"] == "error")
}
