//! Writes and reads the shapes of programs, without the code under test.

#![expect(clippy::unwrap_used, reason = "a history that cannot be read fails its test")]

use seamline::files::Order;
use seamline_testkit::transcript::{Block, Input, Message, Role, Transcript};
use serde_json::{Value, json};

/// A shape and the order in which a history is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) shape: &'static str,
    pub(crate) order: Order,
}

/// Every shape in every order.
pub(crate) const STORED: [Stored; 6] = [
    Stored { shape: "opal", order: Order::NewestFirst },
    Stored { shape: "opal", order: Order::OldestFirst },
    Stored { shape: "openclaw", order: Order::OldestFirst },
    Stored { shape: "openclaw", order: Order::NewestFirst },
    Stored { shape: "llxprt", order: Order::OldestFirst },
    Stored { shape: "llxprt", order: Order::NewestFirst },
];

/// The entries of a history in the order of time. Each has members of its own, and unknown entries are between them.
pub(crate) fn entries(shape: &str, transcript: &Transcript) -> Vec<Value> {
    let mut entries = Vec::new();
    if let Some(system) = transcript.system.as_ref().filter(|_| shape != "llxprt") {
        entries.push(json!({"role": "system", "content": system}));
    }
    for message in &transcript.messages {
        match shape {
            "llxprt" => llxprt(message, &mut entries),
            _ => listed(shape, message, &mut entries),
        }
    }
    for (at, entry) in entries.iter_mut().enumerate() {
        entry["unknown_member"] = json!({"mark": format!("mark-{at}-end"), "numbers": [1.50, 1e3]});
    }
    let at = entries.len() / 2;
    entries.insert(at, json!({"kind": "unknown entry", "mark": "mark-entry-end"}));
    entries
}

fn listed(shape: &str, message: &Message, entries: &mut Vec<Value>) {
    let is_result = |block: &Block| matches!(block, Block::Result(_));
    for stretch in message.blocks.chunk_by(|left, right| !is_result(left) && !is_result(right)) {
        let entry = match (stretch, shape) {
            ([Block::Result(result)], "opal") => {
                json!({"role": "tool_result", "call_id": result.id, "content": result.output, "is_error": false})
            }
            ([Block::Result(result)], _) => {
                let content = json!([{"type": "text", "text": result.output}]);
                json!({"role": "toolResult", "toolCallId": result.id, "toolName": "bash", "content": content,
                    "isError": false, "timestamp": 1})
            }
            (stretch, "opal") => {
                let calls: Vec<Value> =
                    calls(stretch, "call_id", "arguments").into_iter().map(|(_, call)| call).collect();
                let role = role(message.role);
                if calls.is_empty() {
                    json!({"role": role, "content": text(stretch)})
                } else {
                    json!({"role": role, "content": text(stretch), "tool_calls": calls})
                }
            }
            (stretch, _) => {
                let content = blocks(stretch, "toolCall", "arguments");
                json!({"role": role(message.role), "content": content, "stopReason": "stop", "timestamp": 1})
            }
        };
        entries.push(entry);
    }
}

fn llxprt(message: &Message, entries: &mut Vec<Value>) {
    let is_result = |block: &Block| matches!(block, Block::Result(_));
    // One entry holds all results in a row.
    for stretch in message.blocks.chunk_by(|left, right| is_result(left) == is_result(right)) {
        if stretch.iter().all(is_result) {
            let results = stretch.iter().filter_map(|block| match block {
                Block::Result(result) => Some(json!({"type": "tool_response", "callId": result.id, "toolName": "bash",
                    "result": result.output})),
                _ => None,
            });
            entries.push(json!({"speaker": "tool", "blocks": results.collect::<Vec<_>>()}));
        } else {
            let speaker = if message.role == Role::Assistant { "ai" } else { "human" };
            entries.push(json!({"speaker": speaker, "blocks": blocks(stretch, "tool_call", "parameters")}));
        }
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn text(blocks: &[Block]) -> String {
    let texts =
        blocks.iter().filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None });
    texts.collect::<Vec<_>>().join("\n")
}

/// The calls among blocks, with their places.
fn calls(blocks: &[Block], id_key: &str, input_key: &str) -> Vec<(usize, Value)> {
    let calls = blocks.iter().enumerate().filter_map(|(at, block)| match block {
        Block::Call(call) => {
            let input = match &call.input {
                Input::Object(input) | Input::Verbatim(input) => input.clone(),
            };
            let mut written = json!({"name": call.name, input_key: input, "unknown": {"call": at}});
            if let Some(id) = &call.id {
                written[id_key] = json!(id);
            }
            Some((at, written))
        }
        _ => None,
    });
    calls.collect()
}

fn blocks(blocks: &[Block], call_type: &str, input_key: &str) -> Vec<Value> {
    let calls = calls(blocks, "id", input_key);
    let mut out = vec![json!({"type": "thinking", "thinking": "hm", "thinkingSignature": "c2ln"})];
    for (at, block) in blocks.iter().enumerate() {
        match block {
            Block::Text(text) => out.push(json!({"type": "text", "text": text})),
            Block::Image(data) => out.push(json!({"type": "image", "data": data, "mimeType": "image/png"})),
            _ => {}
        }
        if let Some((_, call)) = calls.iter().find(|(call, _)| *call == at) {
            let mut call = call.clone();
            call["type"] = json!(call_type);
            out.push(call);
        }
    }
    out
}

/// Writes a history: a list, or an object with it.
pub(crate) fn written(stored: Stored, mut entries: Vec<Value>, is_listed: bool, is_pretty: bool) -> String {
    if stored.order == Order::NewestFirst {
        entries.reverse();
    }
    let root = if is_listed { json!(entries) } else { json!({"session": "s-1", "messages": entries, "model": "m"}) };
    if is_pretty { serde_json::to_string_pretty(&root).unwrap() } else { root.to_string() }
}

/// The Chat Completions body that a program with this shape would send.
pub(crate) fn sent(stored: Stored, text: &str) -> Value {
    let root: Value = serde_json::from_str(text).unwrap();
    let mut entries = root.as_array().or_else(|| root["messages"].as_array()).unwrap().clone();
    if stored.order == Order::NewestFirst {
        entries.reverse();
    }
    let messages: Vec<Value> = entries.iter().flat_map(|entry| messages(stored.shape, entry)).collect();
    json!({"model": "gpt-4o", "messages": messages})
}

fn messages(shape: &str, entry: &Value) -> Vec<Value> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let call = |call: &Value, id: &str, input: &str| {
        json!({"type": "function", "id": call[id],
            "function": {"name": call["name"], "arguments": call[input].to_string()}})
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let typed = |blocks: &[Value], kind: &str| -> Vec<Value> {
        blocks.iter().filter(|block| block["type"] == kind).cloned().collect()
    };
    let texts = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => typed(&list(other), "text").iter().map(|block| word(&block["text"])).collect::<Vec<_>>().join("\n"),
    };
    let spoken = |role: &str, text: String, calls: Vec<Value>| {
        if calls.is_empty() {
            json!({"role": role, "content": text})
        } else {
            json!({"role": role, "content": text, "tool_calls": calls})
        }
    };
    let role = word(&entry["role"]);
    match (shape, role.as_str()) {
        ("opal", "tool_result") => {
            vec![json!({"role": "tool", "tool_call_id": entry["call_id"], "content": texts(&entry["content"])})]
        }
        ("opal", "system" | "user" | "assistant") => {
            let calls = list(&entry["tool_calls"]).iter().map(|made| call(made, "call_id", "arguments")).collect();
            vec![spoken(&role, texts(&entry["content"]), calls)]
        }
        ("openclaw", "toolResult") => {
            vec![json!({"role": "tool", "tool_call_id": entry["toolCallId"], "content": texts(&entry["content"])})]
        }
        ("openclaw", "system" | "user" | "assistant") => {
            let blocks = typed(&list(&entry["content"]), "toolCall");
            let calls = blocks.iter().map(|made| call(made, "id", "arguments")).collect();
            vec![spoken(&role, texts(&entry["content"]), calls)]
        }
        ("llxprt", _) if entry["speaker"].is_string() => {
            let blocks = list(&entry["blocks"]);
            let results = typed(&blocks, "tool_response").into_iter().map(|result| {
                let said = format!("{}{}", word(&result["result"]), word(&result["error"]));
                json!({"role": "tool", "tool_call_id": result["callId"], "content": said})
            });
            let speaker = match entry["speaker"].as_str() {
                Some("human") => "user",
                Some("ai") => "assistant",
                _ => return results.collect(),
            };
            let calls = typed(&blocks, "tool_call").iter().map(|made| call(made, "id", "parameters")).collect();
            std::iter::once(spoken(speaker, texts(&entry["blocks"]), calls)).chain(results).collect()
        }
        _ => Vec::new(),
    }
}
