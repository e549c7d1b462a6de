//! Members that a provider has rejected by their path, found anywhere in a body.

use seamline_model::{MessageIndex, RejectedMember, Span, Transcript};

use crate::json::{Document, Kind, Value};
use crate::members::cut_of;

/// The most rejected members of one body that are found.
const FOUND_MAX: usize = 10_000;

/// The most keys and indexes of a path.
const DEPTH_MAX: usize = 32;

/// Members that a conversation needs, in small letters without underscores. An error about one of them has another cause
/// than the member, so that it stays.
const NEEDED: &[&str] = &[
    "args",
    "arguments",
    "callid",
    "content",
    "contents",
    "data",
    "document",
    "encryptedcontent",
    "filedata",
    "function",
    "functioncall",
    "functiondeclarations",
    "functionresponse",
    "id",
    "image",
    "imageurl",
    "inlinedata",
    "input",
    "inputschema",
    "instructions",
    "maxtokens",
    "messages",
    "mimetype",
    "model",
    "modelid",
    "name",
    "output",
    "parameters",
    "parts",
    "response",
    "role",
    "signature",
    "source",
    "stream",
    "summary",
    "system",
    "systeminstruction",
    "text",
    "thinking",
    "toolcallid",
    "toolcalls",
    "toolconfig",
    "toolresult",
    "tools",
    "toolspec",
    "tooluse",
    "tooluseid",
    "type",
];

/// Members whose content the model or a tool wrote: no provider has a list of the keys in it.
const FREE: &[&str] = &["args", "arguments", "input", "json"];

/// Finds the members at the paths that a provider has rejected. An index of a path stands for every element: a provider
/// names the first one and would name the next one then.
pub fn find_rejected(transcript: &Transcript<'_>, paths: &[Vec<String>]) -> Vec<RejectedMember> {
    found_in(transcript, |root, found| {
        for path in paths.iter().filter(|path| path.len() <= DEPTH_MAX) {
            let path: Vec<String> = path.iter().map(|key| letters(key)).collect();
            let is_free = path.iter().skip(1).rev().skip(1).any(|key| FREE.contains(&key.as_str()));
            let is_needed = path.last().is_none_or(|key| NEEDED.contains(&key.as_str()));
            // A body that is a list of messages has no member for it.
            let start = usize::from(root.is(Kind::Array));
            if !is_free && !is_needed && start < path.len() {
                collect(root, &path[start..], found);
            }
        }
    })
}

/// Finds the members of a request by their names, in small letters without underscores.
pub fn find_members(transcript: &Transcript<'_>, names: &[&str]) -> Vec<RejectedMember> {
    found_in(transcript, |root, found| {
        for name in names.iter().filter(|_| root.is(Kind::Object)) {
            collect(root, &[(*name).to_owned()], found);
        }
    })
}

/// The members that a search finds, in the order of the body.
fn found_in(
    transcript: &Transcript<'_>,
    search: impl FnOnce(Value<'_, '_>, &mut Vec<RejectedMember>),
) -> Vec<RejectedMember> {
    let mark = if transcript.source.body.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let text = std::str::from_utf8(&transcript.source.body[mark..]);
    let Some(document) = text.ok().and_then(|text| Document::read(text).ok()) else { return Vec::new() };
    let mut found = Vec::new();
    search(document.root(), &mut found);
    found.sort_by_key(|member| member.span.start);
    found.dedup_by_key(|member| member.span.start);
    for member in &mut found {
        let moved = |span: Span| span.moved(mark as u32);
        (member.span, member.cut) = (moved(member.span), moved(member.cut));
        member.message = message_of(transcript, member.span);
    }
    found
}

fn collect(value: Value<'_, '_>, path: &[String], found: &mut Vec<RejectedMember>) {
    let Some((first, rest)) = path.split_first() else { return };
    if value.is(Kind::Array) {
        if first.bytes().all(|byte| byte.is_ascii_digit()) {
            value.elements().for_each(|element| collect(element, rest, found));
        }
        return;
    }
    for (key, member) in value.members().filter(|(key, _)| letters(&key.name()) == *first) {
        if !rest.is_empty() {
            collect(member, rest, found);
        } else if found.len() < FOUND_MAX {
            let span = Span { start: key.span().start, end: member.span().end };
            found.push(RejectedMember { key: key.name().into(), span, cut: cut_of(value, key), message: None });
        }
    }
}

/// The message that a span is in.
fn message_of(transcript: &Transcript<'_>, span: Span) -> Option<MessageIndex> {
    let after = transcript.messages.partition_point(|message| message.span.end < span.end);
    let message = transcript.messages.get(after)?;
    (message.span.start <= span.start).then_some(MessageIndex(after as u32))
}

/// The letters of a key: some providers write names in another case than the body.
fn letters(key: &str) -> String {
    key.replace('_', "").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str, path: &str) -> Vec<String> {
        let transcript = crate::by_name("openai_chat").unwrap().decode(body.as_bytes()).unwrap();
        let path = path.split('.').map(str::to_owned).collect();
        let found = find_rejected(&transcript, &[path]);
        found.iter().map(|member| transcript.text(member.span).to_owned()).collect()
    }

    #[test]
    fn an_index_stands_for_every_element() {
        let body = r#"{"messages":[{"role":"user","content":"a","x":1},{"role":"user","content":"b","x":2}],"x":3}"#;
        assert_eq!(found(body, "messages.0.x"), [r#""x":1"#, r#""x":2"#]);
        assert_eq!(found(body, "x"), [r#""x":3"#]);
        assert_eq!(found(r#"[{"role":"user","content":"a","x":1}]"#, "messages.0.x"), [r#""x":1"#]);
    }

    #[test]
    fn needed_members_and_the_keys_of_arguments_are_never_found() {
        let body =
            r#"{"messages":[{"role":"user","content":[{"type":"tool_use","id":"a","name":"n","input":{"x":1}}]}]}"#;
        for path in ["messages.0.role", "messages.0.content", "messages.0.content.0.input.x", "messages", "tools"] {
            assert_eq!(found(body, path), [""; 0], "{path}");
        }
    }
}
