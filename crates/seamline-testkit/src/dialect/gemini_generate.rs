//! Google's generateContent.

use serde_json::{Value, json};

use crate::{
    dialect::Row,
    events::{self, Event},
    generate::wire::place,
    provider::{
        Framing, Operation, Service, reject, reply,
        tools::{self, Declared},
    },
    render, strict,
};

pub(super) const ROW: Row = Row {
    name: "gemini_generate",
    provider: "gemini",
    list_key: "contents",
    content_key: "parts",
    assistant_role: "model",
    call_id_key: "id",
    input_key: "args",
    result_id_key: "id",
    output_key: "response",
    has_text_input: false,
    has_text_content: false,
    has_untyped_text: true,
    has_chat_fields: false,
    has_optional_ids: true,
    must_take_turns: false,
    has_results_anywhere: false,
    has_cache_blocks: false,
    body: render::gemini::body,
    check: strict::gemini::check,
    may_lack_list: |_| false,
    calls: |body| place::named(body, "parts", "functionCall"),
    results: |body| place::named(body, "parts", "functionResponse"),
    // Pictures are beside the response of a tool, not in it.
    add_image: |result, data, _| {
        result.insert("parts".into(), json!([{"inlineData": {"mimeType": "image/png", "data": data}}]));
        Some(())
    },
    add_reasoning: |message, said, signature| {
        let mut part = json!({"text": said, "thought": true});
        if let Some(signature) = signature {
            part["thoughtSignature"] = json!(signature);
        }
        message.get_mut("parts")?.as_array_mut()?.insert(0, part);
        Some(())
    },
    events: |content, events| events::of_blocks(&content["parts"], event, events),
    user_message: r#"{"role":"user","parts":[{"text":"Go on"}]}"#,
    envelope: "{}",
    error_event: "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n",
    service: SERVICE,
};

const SERVICE: Service = Service {
    path: "/gemini/v1beta/models/gemini-2.5-pro:generateContent",
    stream_path: "/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    short_body: r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#,
    operation,
    token_count: || json!({"totalTokens": 1}),
    tools: declared,
    words: reject::gemini::words,
    not_json: reject::gemini::not_json,
    reject: reject::gemini::reply,
    failure: reply::gemini::failure,
    whole: reply::gemini::whole,
    events: reply::gemini::events,
    stream_end: None,
    call_stream: reply::gemini::call_stream,
};

fn operation(path: &str, query: &str) -> Option<Operation> {
    let has_events = query.split('&').any(|pair| pair == "alt=sse");
    match path {
        _ if path.ends_with(":countTokens") => Some(Operation::Count),
        _ if path.ends_with(":generateContent") => Some(Operation::Respond(Framing::Whole)),
        _ if path.ends_with(":streamGenerateContent") && has_events => Some(Operation::Respond(Framing::Events)),
        _ if path.ends_with(":streamGenerateContent") => Some(Operation::Respond(Framing::Array)),
        _ => None,
    }
}

fn declared(body: &Value) -> Declared<'_> {
    let tools = body["tools"].as_array().into_iter().flatten();
    let functions = tools.flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten());
    // Google's own Python package writes the first of these members in snake case.
    let keys = ["parametersJsonSchema", "parameters_json_schema"];
    let schema = |tool| {
        let key = keys.into_iter().find(|key| Value::get(tool, key).is_some());
        tools::named(tool, key.unwrap_or("parameters"))
    };
    functions.filter_map(schema).collect()
}

fn event(part: &Value) -> Event {
    let (call, result) = (&part["functionCall"], &part["functionResponse"]);
    if call.is_object() {
        return Event::call(&call["id"], &call["name"], &call["args"]);
    }
    if !result.is_object() {
        return Event::Other;
    }
    let response = &result["response"];
    let alone = response.as_object().filter(|response| response.len() == 1);
    let output = alone.and_then(|alone| ["output", "error", "result"].iter().find_map(|key| alone.get(*key)));
    assert!(result["name"].as_str().is_some_and(|name| !name.is_empty()), "a result names its tool");
    Event::result(&result["id"], events::words(output.unwrap_or(response)), !response["error"].is_null())
}
