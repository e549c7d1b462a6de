//! `OpenAI`'s Responses API.

use serde_json::{Value, json};

use crate::{
    dialect::Row,
    events::Event,
    generate::wire::place,
    provider::{Framing, Operation, Service, reject, reply, tools},
    render, strict,
};

pub(super) const ROW: Row = Row {
    name: "openai_responses",
    provider: "openai-responses",
    list_key: "input",
    content_key: "content",
    assistant_role: "assistant",
    call_id_key: "call_id",
    input_key: "arguments",
    result_id_key: "call_id",
    output_key: "output",
    has_text_input: true,
    has_text_content: true,
    has_untyped_text: false,
    has_chat_fields: false,
    has_optional_ids: false,
    must_take_turns: false,
    has_results_anywhere: true,
    has_cache_blocks: false,
    body: render::responses::body,
    check: strict::responses::check,
    may_lack_list: strict::responses::needs_no_items,
    calls: |body| place::items(body, "function_call"),
    results: |body| place::items(body, "function_call_output"),
    add_image: |result, data, at| {
        let url = format!("data:image/png;base64,{data}");
        let image = json!({"type": "input_image", "image_url": url});
        place::add_part(result.get_mut("output")?, "input_text", image, at)
    },
    // Reasoning is an item of its own.
    add_reasoning: |_, _, _| None,
    events,
    user_message: r#"{"role":"user","content":"Go on"}"#,
    envelope: r#"{"model":"m"}"#,
    error_event: "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"The server had an error\",\"param\":null,\"sequence_number\":9}\n\n",
    service: SERVICE,
};

const SERVICE: Service = Service {
    path: "/openai/v1/responses",
    stream_path: "/openai/v1/responses",
    short_body: r#"{"model":"gpt-5","input":[{"role":"user","content":"hello"}]}"#,
    operation: |path, _| match path {
        _ if path.ends_with("/responses/input_tokens") => Some(Operation::Count),
        _ if path.ends_with("/responses") => Some(Operation::Respond(Framing::ByBody)),
        _ => None,
    },
    token_count: || json!({"object": "response.input_tokens", "input_tokens": 1}),
    tools: |body| tools::listed(&body["tools"], "parameters"),
    words: reject::openai_responses::words,
    not_json: reject::openai_chat::not_json,
    reject: reject::openai_chat::reply,
    failure: reply::openai_chat::failure,
    whole: reply::openai_responses::whole,
    events: reply::openai_responses::events,
    stream_end: None,
    call_stream: reply::openai_responses::call_stream,
};

fn events(item: &Value, events: &mut Vec<Event>) {
    events.push(match item["type"].as_str() {
        Some("function_call") => Event::call(&item["call_id"], &item["name"], &item["arguments"]),
        Some("custom_tool_call") => Event::call(&item["call_id"], &item["name"], &json!({"input": item["input"]})),
        Some("function_call_output" | "custom_tool_call_output") => {
            Event::marked_result(&item["call_id"], &item["output"])
        }
        // The assistant may speak between two calls.
        _ if item["role"] == "assistant" => return,
        _ => Event::Other,
    });
}
