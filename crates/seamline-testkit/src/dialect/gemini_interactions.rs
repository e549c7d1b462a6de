//! Google's Interactions API: its properties, a renderer, and a judge that shares no code with the rules.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    dialect::Row,
    events::{self, Event},
    generate::wire::place,
    provider::{Framing, Operation, Service, reject, reply, tools},
    render::TOOL_NAMES,
    strict::{Violation, ViolationKind},
    transcript::{Block, Call, CallResult, Ending, Input, Message, Role, Shape, Transcript},
};

pub(super) const ROW: Row = Row {
    name: "gemini_interactions",
    provider: "gemini-interactions",
    list_key: "input",
    content_key: "content",
    assistant_role: "model",
    call_id_key: "id",
    input_key: "arguments",
    result_id_key: "call_id",
    output_key: "result",
    has_text_input: false,
    has_text_content: false,
    has_untyped_text: false,
    has_chat_fields: false,
    has_optional_ids: false,
    must_take_turns: false,
    has_results_anywhere: true,
    has_cache_blocks: false,
    body,
    check,
    may_lack_list: needs_no_steps,
    calls: |body| place::items(body, "function_call"),
    results: |body| place::items(body, "function_result"),
    add_image: |result, data, at| {
        let image = json!({"type": "image", "mime_type": "image/png", "data": data});
        place::add_part(result.get_mut("result")?, "text", image, at)
    },
    // A thought is a step of its own.
    add_reasoning: |_, _, _| None,
    events,
    user_message: r#"{"type":"user_input","content":[{"type":"text","text":"Go on"}]}"#,
    envelope: r#"{"model":"m"}"#,
    error_event: "event: error\ndata: {\"error\":{\"message\":\"Deadline expired before operation could complete.\",\"code\":\"gateway_timeout\"},\"event_type\":\"error\"}\n\n",
    service: SERVICE,
};

const SERVICE: Service = Service {
    path: "/gemini/v1beta/interactions",
    stream_path: "/gemini/v1beta/interactions",
    short_body: r#"{"model":"gemini-4-pro","input":[{"type":"user_input","content":[{"type":"text","text":"hello"}]}]}"#,
    operation: |path, _| path.ends_with("/interactions").then_some(Operation::Respond(Framing::ByBody)),
    token_count: || json!({"input_tokens": 1}),
    tools: |body| tools::listed(&body["tools"], "parameters"),
    words: reject::interactions::words,
    not_json: reject::gemini::not_json,
    reject: reject::interactions::reply,
    failure: reply::interactions::failure,
    whole: reply::interactions::whole,
    events: reply::interactions::events,
    stream_end: Some("event: done\ndata: [DONE]\n\n"),
    call_stream: reply::interactions::call_stream,
};

/// The whole body.
fn body(transcript: &Transcript) -> Value {
    let declare = |name| json!({"type": "function", "name": name, "parameters": {"type": "object"}});
    // A result has the tool name of the call before it, so that a longer body begins with the shorter one.
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut steps: Vec<Value> = Vec::new();
    for message in &transcript.messages {
        steps.extend(split(message, &names));
        names.extend(message.calls().filter_map(|call| Some((call.id.as_deref()?, call.name.as_str()))));
    }
    let mut body = json!({"model": "gemini-2.5-pro", "tools": TOOL_NAMES.map(declare), "input": steps});
    if let Some(system) = &transcript.system {
        body["system_instruction"] = json!(system);
    }
    body
}

/// One step per call, result and thought, and one per run of text and images, in order.
fn split(message: &Message, names: &BTreeMap<&str, &str>) -> Vec<Value> {
    if message.blocks.is_empty() {
        return vec![speech(message.role, &[])];
    }
    let is_said = |block: &Block| matches!(block, Block::Text(_) | Block::Image(_));
    let stretches = message.blocks.chunk_by(|left, right| is_said(left) && is_said(right));
    let steps = stretches.map(|stretch| match stretch {
        [Block::Call(call)] => self::call(call),
        [Block::Result(result)] => self::result(result, names),
        [Block::Thinking { text, signature }] => {
            json!({"type": "thought", "signature": signature, "summary": [{"type": "text", "text": text}]})
        }
        [Block::ServerCall(id)] => {
            json!({"type": "google_search_call", "id": id, "arguments": {"queries": ["q"]}})
        }
        [Block::ServerResult(id)] => {
            json!({"type": "google_search_result", "call_id": id, "result": [{"search_suggestions": "s"}]})
        }
        stretch => speech(message.role, stretch),
    });
    steps.collect()
}

/// There is no step for the system.
fn speech(role: Role, blocks: &[Block]) -> Value {
    let content = |block: &Block| match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Image(data) => json!({"type": "image", "mime_type": "image/png", "data": data}),
        _ => Value::Null,
    };
    let kind = if role == Role::Assistant { "model_output" } else { "user_input" };
    json!({"type": kind, "content": blocks.iter().map(content).collect::<Vec<_>>()})
}

fn call(call: &Call) -> Value {
    let (Input::Object(input) | Input::Verbatim(input)) = &call.input;
    let mut fields = Map::new();
    fields.insert("type".into(), json!("function_call"));
    fields.insert("name".into(), json!(call.name));
    fields.insert("arguments".into(), input.clone());
    if let Some(id) = &call.id {
        fields.insert("id".into(), json!(id));
    }
    Value::Object(fields)
}

fn result(result: &CallResult, names: &BTreeMap<&str, &str>) -> Value {
    let output = match result.shape {
        Shape::Text => json!(result.output),
        Shape::Blocks => json!([{"type": "text", "text": result.output}]),
    };
    let called = result.id.as_deref().and_then(|id| names.get(id).copied());
    let mut fields = Map::new();
    fields.insert("type".into(), json!("function_result"));
    fields.insert("result".into(), output);
    if let Some(name) = result.name.as_deref().or(called) {
        fields.insert("name".into(), json!(name));
    }
    if let Some(id) = &result.id {
        fields.insert("call_id".into(), json!(id));
    }
    if result.ending == Ending::Failed {
        fields.insert("is_error".into(), json!(true));
    }
    Value::Object(fields)
}

fn events(step: &Value, events: &mut Vec<Event>) {
    events.push(match step["type"].as_str() {
        Some("function_call") => Event::call(&step["id"], &step["name"], &step["arguments"]),
        Some("function_result") => {
            assert!(step["name"].as_str().is_some_and(|name| !name.is_empty()), "a result names its tool");
            let output = &step["result"];
            let said = if output.is_object() { events::words(output) } else { events::said(output) };
            Event::result(&step["call_id"], said, step["is_error"] == true)
        }
        // The model may speak and think between two calls.
        Some("model_output" | "thought") => return,
        _ => Event::Other,
    });
}

/// Whether a body is a conversation without a list of steps: a text, a content, or nothing new.
fn needs_no_steps(body: &Value) -> bool {
    match body.get("input") {
        Some(Value::String(_) | Value::Object(_)) => true,
        Some(Value::Array(steps)) => steps.is_empty() && is_held(body),
        None | Some(Value::Null) => is_held(body),
        Some(_) => false,
    }
}

/// Whether the provider holds earlier steps of the conversation.
fn is_held(body: &Value) -> bool {
    body.get("previous_interaction_id").is_some_and(|id| !id.is_null())
}

/// Everything Google would reject, in no particular order.
fn check(body: &Value, steps: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (message, step) in steps.iter().enumerate() {
        violations.extend(step_kinds(step).into_iter().map(|kind| Violation { message, kind }));
    }
    check_pairs(steps, is_held(body), &mut violations);
    violations
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// google-genai 3.1, types. Unknown types are accepted.
fn step_kinds(step: &Value) -> Vec<ViolationKind> {
    if !step.is_object() {
        return vec![ViolationKind::Malformed];
    }
    match kind(step) {
        "user_input" | "model_output" => content_kinds(step.get("content")),
        "function_call" => unmet([
            (is_said(step.get("id")), ViolationKind::BadCallId),
            (is_name(step.get("name")), ViolationKind::BadToolName),
            (step.get("arguments").is_some_and(Value::is_object), ViolationKind::BadInput),
        ]),
        "function_result" => unmet([
            (is_said(step.get("call_id")), ViolationKind::BadResultId),
            // inspect-robots#380.
            (is_said(step.get("name")), ViolationKind::BadResultName),
            (is_output(step.get("result")), ViolationKind::BadResultContent),
        ]),
        "" if !matches!(step["role"].as_str(), Some("user" | "model")) => vec![ViolationKind::UnknownRole],
        _ => Vec::new(),
    }
}

fn unmet<const N: usize>(demands: [(bool, ViolationKind); N]) -> Vec<ViolationKind> {
    demands.into_iter().filter(|(met, _)| !met).map(|(_, kind)| kind).collect()
}

fn is_said(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// GEM-7: `[a-zA-Z0-9_.:-]{1,128}`.
fn is_name(value: Option<&Value>) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    value.and_then(Value::as_str).is_some_and(|name| (1..=128).contains(&name.len()) && name.bytes().all(is_legal))
}

fn is_output(value: Option<&Value>) -> bool {
    match value {
        Some(Value::String(_) | Value::Object(_)) => true,
        Some(Value::Array(contents)) => contents.iter().all(Value::is_object),
        _ => false,
    }
}

/// The content is optional.
fn content_kinds(content: Option<&Value>) -> Vec<ViolationKind> {
    let is_wordless = |part: &Value| kind(part) == "text" && !part["text"].is_string();
    match content {
        None | Some(Value::Null | Value::String(_)) => Vec::new(),
        Some(Value::Array(parts)) => {
            let wrong = parts.iter().filter(|part| !part.is_object() || is_wordless(part));
            wrong.map(|_| ViolationKind::Malformed).collect()
        }
        Some(_) => vec![ViolationKind::BadContent],
    }
}

/// Adds every unanswered call, orphan and duplicate result. Steps without an id are skipped: their shape is already a
/// violation.
fn check_pairs(steps: &[Value], is_held: bool, violations: &mut Vec<Violation>) {
    let mut open: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut unknown: BTreeMap<&str, usize> = BTreeMap::new();
    for (message, step) in steps.iter().enumerate() {
        let id = |key| step.get(key).and_then(Value::as_str).filter(|id| !id.is_empty());
        let mut add = |kind| violations.push(Violation { message, kind });
        match kind(step) {
            "function_call" => {
                let Some(id) = id("id") else { continue };
                let calls = open.entry(id).or_default();
                if !calls.is_empty() {
                    add(ViolationKind::DuplicateCallId);
                }
                calls.push(message);
            }
            "function_result" => {
                let Some(id) = id("call_id") else { continue };
                let made = unknown.get_mut(id).filter(|made| **made > 0);
                match open.get_mut(id).map(Vec::pop) {
                    Some(None) | None if made.is_some() => made.into_iter().for_each(|made| *made -= 1),
                    Some(None) => add(ViolationKind::DuplicateResult),
                    None if !is_held => add(ViolationKind::OrphanResult),
                    Some(Some(_)) | None => {}
                }
            }
            // A step of a type that the provider may have added answers an open call, or makes one.
            _ => {
                let answers = id("call_id").and_then(|id| open.get_mut(id)).and_then(Vec::pop);
                if let (None, Some(id)) = (answers, id("id")) {
                    *unknown.entry(id).or_default() += 1;
                }
            }
        }
    }
    let unanswered = open.into_values().flatten();
    violations.extend(unanswered.map(|message| Violation { message, kind: ViolationKind::UnansweredCall }));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Dialect, strict, strict::ViolationKind as K};

    fn kinds(input: &Value) -> Vec<K> {
        found(&json!({"model": "gemini-4-pro", "input": input}))
    }

    fn found(body: &Value) -> Vec<K> {
        strict::check(Dialect::GeminiInteractions, body).iter().map(|violation| violation.kind).collect()
    }

    fn call(id: &str) -> Value {
        json!({"type": "function_call", "id": id, "name": "search", "arguments": {}})
    }

    fn result(id: &str) -> Value {
        json!({"type": "function_result", "call_id": id, "name": "search", "result": {"t": 20}})
    }

    #[test]
    fn a_result_may_be_anywhere_after_its_call() {
        let said = json!({"type": "user_input", "content": [{"type": "text", "text": "hi"}]});
        assert_eq!(kinds(&json!([call("a"), call("b"), result("b"), said, result("a")])), []);
        assert_eq!(kinds(&json!([result("a"), call("a")])), [K::OrphanResult, K::UnansweredCall]);
        assert_eq!(kinds(&json!([call("a"), result("a"), result("a")])), [K::DuplicateResult]);
        assert_eq!(kinds(&json!([call("a"), call("a"), result("a"), result("a")])), [K::DuplicateCallId]);
    }

    #[test]
    fn the_provider_may_hold_the_call_of_a_result() {
        let body = json!({"previous_interaction_id": "v1_a", "input": [result("a")]});
        assert_eq!(found(&body), []);
        assert_eq!(found(&json!({"previous_interaction_id": "v1_a"})), []);
        assert_eq!(kinds(&json!([result("a")])), [K::OrphanResult]);
    }

    #[test]
    fn each_demand_is_checked() {
        let call = json!({"type": "function_call", "name": "f!", "arguments": "{}"});
        let result = json!({"type": "function_result", "result": 20});
        let bad = [K::BadCallId, K::BadToolName, K::BadInput, K::BadResultId, K::BadResultContent, K::BadResultName];
        assert_eq!(kinds(&json!([call, result])), bad);
        let said = |content: Value| json!([{"type": "user_input", "content": content}]);
        assert_eq!(kinds(&said(json!(7))), [K::BadContent]);
        assert_eq!(kinds(&said(json!([7]))), [K::Malformed]);
        assert_eq!(kinds(&json!([7])), [K::Malformed]);
    }

    #[test]
    fn unknown_steps_and_steps_of_server_tools_are_accepted() {
        let steps = json!([
            {"type": "user_input"},
            {"type": "google_search_call", "id": "s"},
            {"type": "url_context_result", "call_id": "u"},
            {"type": "later_step", "x": 1},
            {"type": "text", "text": "hi"},
        ]);
        assert_eq!(kinds(&steps), []);
    }
}
