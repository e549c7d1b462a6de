//! Google's generateContent.

use serde_json::{Value, json};

use crate::{
    dialect::Row,
    events::{self, Event},
    generate::wire::place,
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
};

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
