//! A message of `LangChain` as a message of the carrier.

use crate::json::{Object, elements};
use crate::native::message::{Call, Message, Role};
use crate::native::text::{call, text_of};

/// Reads a saved message: `{"type":"ai","data":{…}}`, a constructor `{"lc":1,"id":[…],"kwargs":{…}}`, or its members alone.
/// Returns nothing if `LangChain` would not send it.
pub(super) fn message(record: &str) -> Option<Message> {
    let record = Object::of(record)?;
    let class = record.list("id").last().and_then(|name| crate::json::string(name));
    let inner = record.first(&["kwargs", "data"]).and_then(|(_, inner)| Object::of(inner));
    let members = inner.as_ref().unwrap_or(&record);
    let kind = class.filter(|_| record.get("kwargs").is_some()).or_else(|| record.string("type"))?;
    let (text, call_id) = (text_of(members.get("content")), members.string("tool_call_id"));
    let kind = kind.trim_end_matches("Chunk").trim_end_matches("Message").to_ascii_lowercase();
    let role = match kind.as_str() {
        "human" | "user" => Role::User,
        "ai" | "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" => Role::Tool,
        "chat" => match members.string("role")?.as_str() {
            "system" | "developer" => Role::System,
            "assistant" => Role::Assistant,
            _ => Role::User,
        },
        _ => return None,
    };
    let calls = if role == Role::Assistant { calls(members) } else { Vec::new() };
    Some(Message { calls, call_id: call_id.filter(|_| role == Role::Tool), ..Message::said(role, text) })
}

/// The calls of a message. `LangChain` also sends those whose arguments it could not read.
fn calls(members: &Object<'_>) -> Vec<Call> {
    let lists = ["tool_calls", "invalid_tool_calls"].map(|name| members.get(name).and_then(elements));
    let calls = lists.into_iter().flatten().flatten();
    calls
        .filter_map(Object::of)
        .enumerate()
        .map(|(at, object)| call(&object, at, &["id"], &["name"], &["args"]))
        .collect()
}

/// The model that wrote a message.
pub(super) fn model(record: &str) -> Option<String> {
    let record = Object::of(record)?;
    let inner = record.first(&["kwargs", "data"]).and_then(|(_, inner)| Object::of(inner));
    let metadata = inner.as_ref().unwrap_or(&record).get("response_metadata").and_then(Object::of)?;
    ["model_name", "model"].iter().find_map(|name| metadata.string(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_are_read() {
        let members = r#"{"content":[{"type":"text","text":"look"},{"type":"tool_use","id":"c1"}],"type":"ai","tool_calls":[{"id":"c1","name":"ls","args":{"p":1}}],"invalid_tool_calls":[{"id":"c2","name":"rm","args":"{bad"}]}"#;
        let saved = format!(r#"{{"type":"ai","data":{members}}}"#);
        let built =
            format!(r#"{{"lc":1,"type":"constructor","id":["langchain","AIMessageChunk"],"kwargs":{members}}}"#);
        for record in [members, &saved, &built] {
            let read = message(record).unwrap();
            assert_eq!((read.role, read.text.as_str(), read.calls.len()), (Role::Assistant, "look", 2), "{record}");
            assert_eq!((read.calls[0].arguments.as_str(), read.calls[1].arguments.as_str()), (r#"{"p":1}"#, "{bad"));
        }
        let tool = message(r#"{"type":"tool","data":{"content":"ok","tool_call_id":"c1","id":"x"}}"#).unwrap();
        assert_eq!((tool.role, tool.call_id.as_deref()), (Role::Tool, Some("c1")));
        assert_eq!(message(r#"{"type":"remove","id":"x"}"#), None);
    }
}
