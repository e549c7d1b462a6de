//! `OpenAI`'s Chat Completions API.

use serde_json::{Value, json};

use crate::{
    dialect::Row,
    events::Event,
    generate::wire::place,
    provider::{Framing, Operation, Service, reject, reply, tools},
    render, strict,
};

pub(super) const ROW: Row = Row {
    name: "openai_chat",
    provider: "openai",
    list_key: "messages",
    content_key: "content",
    assistant_role: "assistant",
    call_id_key: "id",
    input_key: "arguments",
    result_id_key: "tool_call_id",
    output_key: "content",
    has_text_input: true,
    has_text_content: true,
    has_untyped_text: true,
    has_chat_fields: true,
    has_optional_ids: false,
    must_take_turns: false,
    has_results_anywhere: false,
    has_cache_blocks: false,
    body: render::openai::body,
    check: |_, messages| strict::openai::check(messages),
    may_lack_list: |_| false,
    calls: |body| {
        let lists = place::messages(body).filter_map(|message| message.get_mut("tool_calls")?.as_array_mut());
        lists.flatten().filter_map(Value::as_object_mut).collect()
    },
    results: |body| place::messages(body).filter(|message| place::is_role(message, "tool")).collect(),
    add_image: |result, data, at| {
        let url = format!("data:image/png;base64,{data}");
        place::add_part(result.get_mut("content")?, "text", json!({"type": "image_url", "image_url": {"url": url}}), at)
    },
    add_reasoning: |message, said, signature| {
        let (key, held) = match signature {
            Some(signature) => {
                ("reasoning_details", json!([{"type": "reasoning.text", "text": said, "signature": signature}]))
            }
            None => ("reasoning_content", json!(said)),
        };
        message.insert(key.into(), held);
        Some(())
    },
    events,
    user_message: r#"{"role":"user","content":"Go on"}"#,
    envelope: r#"{"model":"m"}"#,
    error_event: "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\n",
    service: SERVICE,
};

const SERVICE: Service = Service {
    path: "/openai/v1/chat/completions",
    stream_path: "/openai/v1/chat/completions",
    short_body: r#"{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}"#,
    operation: |path, _| path.ends_with("/chat/completions").then_some(Operation::Respond(Framing::ByBody)),
    token_count: || json!({"input_tokens": 1}),
    tools: |body| {
        let tools = body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tools::named(&tool["function"], "parameters")).collect()
    },
    words: reject::openai_chat::words,
    not_json: reject::openai_chat::not_json,
    reject: reject::openai_chat::reply,
    failure: reply::openai_chat::failure,
    whole: reply::openai_chat::whole,
    events: reply::openai_chat::events,
    stream_end: Some(reply::openai_chat::STREAM_END),
    call_stream: reply::openai_chat::call_stream,
};

fn events(message: &Value, events: &mut Vec<Event>) {
    if message["role"] == "tool" {
        return events.push(Event::marked_result(&message["tool_call_id"], &message["content"]));
    }
    events.push(Event::Other);
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let (custom, function) = (&call["custom"], &call["function"]);
        events.push(if custom.is_object() {
            Event::call(&call["id"], &custom["name"], &json!({"input": custom["input"]}))
        } else {
            Event::call(&call["id"], &function["name"], &function["arguments"])
        });
    }
}
