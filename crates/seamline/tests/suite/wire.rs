//! The calls and results of a body in any dialect, read by a reader of its own.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A call with the result that answers it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) output: String,
    pub(crate) failed: bool,
}

/// The pairs of a body, in the order of their calls; an error when a call is not answered
/// right after it, a result has no call, or one is answered twice.
pub(crate) fn pairs(dialect: &str, body: &Value) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    let mut open: Vec<Event> = Vec::new();
    for event in events(dialect, body) {
        match event {
            Event::Call { ref id, .. } => {
                if open.iter().any(|known| matches!(known, Event::Call { id: other, .. } if other == id)) {
                    return Err(format!("two calls at once are called {id}"));
                }
                open.push(event);
            }
            Event::Result { id, output, failed } => {
                let place = open.iter().position(|call| matches!(call, Event::Call { id: other, .. } if *other == id));
                let Some(place) = place else { return Err(format!("result {id} answers nothing before it")) };
                if let Event::Call { at, id, name, input } = open.remove(place) {
                    pairs.push((at, Pair { id, name, input, output, failed }));
                }
            }
            Event::Other if open.is_empty() => {}
            Event::Other => return Err(format!("something stands between {open:?} and its result")),
        }
    }
    if !open.is_empty() {
        return Err(format!("{open:?} is not answered"));
    }
    let pairs: BTreeMap<usize, Pair> = pairs.into_iter().collect();
    Ok(pairs.into_values().collect())
}

/// What is compared after a way there and back: ids may be others.
pub(crate) fn without_ids(pairs: Vec<Pair>) -> Vec<(String, Value, String, bool)> {
    pairs.into_iter().map(|pair| (pair.name, pair.input, spelled_alike(pair.output), pair.failed)).collect()
}

/// JSON that is the same is spelled the same.
fn spelled_alike(output: String) -> String {
    match serde_json::from_str::<Value>(&output) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value.to_string(),
        _ => output,
    }
}

#[derive(Debug)]
enum Event {
    Call {
        at: usize,
        id: String,
        name: String,
        input: Value,
    },
    Result {
        id: String,
        output: String,
        failed: bool,
    },
    /// Anything that may not stand between a call and its result.
    Other,
}

fn events(dialect: &str, body: &Value) -> Vec<Event> {
    let mut events = Vec::new();
    let list = ["messages", "input", "contents"].iter().find_map(|key| body[*key].as_array());
    for message in list.into_iter().flatten() {
        match dialect {
            "openai_chat" => openai_chat(message, &mut events),
            "openai_responses" => openai_responses(message, &mut events),
            _ => blocks(dialect, message, &mut events),
        }
    }
    for (place, event) in events.iter_mut().enumerate() {
        if let Event::Call { at, .. } = event {
            *at = place;
        }
    }
    events
}

fn call(id: &Value, name: &Value, input: &Value) -> Event {
    let input = input.as_str().map_or(input.clone(), |text| serde_json::from_str(text).unwrap_or(json!(text)));
    Event::Call { at: 0, id: text(id), name: text(name), input }
}

fn openai_chat(message: &Value, events: &mut Vec<Event>) {
    if message["role"] == "tool" {
        return events.push(marked(&message["tool_call_id"], &message["content"]));
    }
    events.push(Event::Other);
    for value in message["tool_calls"].as_array().into_iter().flatten() {
        let custom = &value["custom"];
        if custom.is_object() {
            events.push(call(&value["id"], &custom["name"], &json!({"input": custom["input"]})));
            continue;
        }
        events.push(call(&value["id"], &value["function"]["name"], &value["function"]["arguments"]));
    }
}

fn openai_responses(item: &Value, events: &mut Vec<Event>) {
    events.push(match item["type"].as_str() {
        Some("function_call") => call(&item["call_id"], &item["name"], &item["arguments"]),
        Some("custom_tool_call") => call(&item["call_id"], &item["name"], &json!({"input": item["input"]})),
        Some("function_call_output" | "custom_tool_call_output") => marked(&item["call_id"], &item["output"]),
        // The assistant may speak between two calls.
        _ if item["role"] == "assistant" => return,
        _ => Event::Other,
    });
}

/// A result whose failure is a mark in its text.
fn marked(id: &Value, content: &Value) -> Event {
    let said = said(content);
    let synthetic = said.starts_with("[synthetic] No result");
    match said.strip_prefix("[tool error] ") {
        Some(output) => Event::Result { id: text(id), output: output.to_owned(), failed: true },
        None => Event::Result { id: text(id), output: said, failed: synthetic },
    }
}

/// Dialects whose results stand before everything else in a message of the user.
fn blocks(dialect: &str, message: &Value, events: &mut Vec<Event>) {
    let list = if dialect == "gemini_generate" { &message["parts"] } else { &message["content"] };
    let mut others = 0;
    let mut found = Vec::new();
    for block in list.as_array().into_iter().flatten() {
        match block_event(dialect, block) {
            Event::Other => others += 1,
            event => found.push(event),
        }
    }
    let asks = found.iter().any(|event| matches!(event, Event::Call { .. }));
    if list.is_string() || (asks && others > 0) || found.is_empty() {
        events.push(Event::Other);
    }
    let answers = found.iter().any(|event| matches!(event, Event::Result { .. }));
    events.extend(found);
    if answers && others > 0 {
        events.push(Event::Other);
    }
}

fn block_event(dialect: &str, block: &Value) -> Event {
    match dialect {
        "anthropic_messages" => match block["type"].as_str() {
            Some("tool_use") => call(&block["id"], &block["name"], &block["input"]),
            Some("tool_result") => {
                let failed = block["is_error"] == true;
                Event::Result { id: text(&block["tool_use_id"]), output: said(&block["content"]), failed }
            }
            _ => Event::Other,
        },
        "gemini_generate" => {
            let (asked, answer) = (&block["functionCall"], &block["functionResponse"]);
            if asked.is_object() {
                return call(&asked["id"], &asked["name"], &asked["args"]);
            }
            if !answer.is_object() {
                return Event::Other;
            }
            let response = &answer["response"];
            let failed = !response["error"].is_null();
            let alone = response.as_object().filter(|response| response.len() == 1);
            let output = alone.and_then(|alone| ["output", "error", "result"].iter().find_map(|key| alone.get(*key)));
            assert!(!text(&answer["name"]).is_empty(), "a result names its tool");
            Event::Result { id: text(&answer["id"]), output: words(output.unwrap_or(response)), failed }
        }
        _ => {
            let (asked, answer) = (&block["toolUse"], &block["toolResult"]);
            if asked.is_object() {
                return call(&asked["toolUseId"], &asked["name"], &asked["input"]);
            }
            if !answer.is_object() {
                return Event::Other;
            }
            let failed = answer["status"] == "error";
            Event::Result { id: text(&answer["toolUseId"]), output: said(&answer["content"]), failed }
        }
    }
}

/// A text, or the JSON that stands for it where there are only texts.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The texts of a content.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let said = |part: &Value| part.get("text").or_else(|| part.get("json")).map(words);
            parts.iter().filter_map(said).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
