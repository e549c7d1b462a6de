//! One message of a session, as turns of a request.
//!
//! A message of the model holds its tool calls with their results, so it becomes two turns. Gemini CLI leaves out thoughts,
//! notes to the user, and texts of the user that are commands.

use std::borrow::Cow;

use crate::json::{Object, elements, members, string};
use crate::session::KeptTexts;

/// The role of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Model,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
        }
    }
}

/// Where a part of a turn is in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The whole content, which is one text or one part.
    Whole,
    /// An element of the content.
    KeptTexts(usize),
    /// A tool call.
    Call(usize),
    /// A part of the result of a tool call: the index of the call, and that of the part.
    Result(usize, usize),
}

/// The parts of a message that Gemini CLI sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) role: Role,
    pub(super) parts: Vec<(Source, String)>,
}

/// The turns of a message.
pub(super) fn turns(message: &str, keep: KeptTexts) -> Vec<Turn> {
    let Ok([kind, content, calls]) = members(message, &["type", "content", "toolCalls"]) else { return Vec::new() };
    let parts = content.map(parts).unwrap_or_default();
    match kind.and_then(string).as_deref() {
        Some("user") if !is_ignored(&parts) => vec![turn(Role::User, parts, keep)],
        Some("gemini") => model_turns(parts, &calls.and_then(elements).unwrap_or_default(), keep),
        _ => Vec::new(),
    }
}

fn turn(role: Role, parts: Vec<(Source, Cow<'_, str>)>, keep: KeptTexts) -> Turn {
    let parts = parts.into_iter().map(|(source, part)| (source, keep.keep(&part).into_owned()));
    Turn { role, parts: parts.collect() }
}

fn model_turns(content: Vec<(Source, Cow<'_, str>)>, calls: &[&str], keep: KeptTexts) -> Vec<Turn> {
    let is_thought = |part: &str| has(part, "thought");
    // A content with calls or thoughts has all parts of the turn. Others have the text only.
    let is_complete = content.iter().any(|(_, part)| has(part, "functionCall") || is_thought(part));
    let mut model: Vec<(Source, Cow<'_, str>)> =
        content.into_iter().filter(|(_, part)| !is_thought(part) && part != "{\"text\":\"\"}").collect();
    let mut results = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let Ok([id, name, args, result]) = members(call, &["id", "name", "args", "result"]) else { continue };
        let named: Vec<String> = [("id", id), ("name", name)]
            .into_iter()
            .filter_map(|(key, value)| Some(format!("\"{key}\":{}", value?)))
            .collect();
        if !is_complete {
            let args = args.map(|args| format!("\"args\":{args}"));
            let call = [named.clone(), args.into_iter().collect()].concat().join(",");
            model.push((Source::Call(index), Cow::Owned(format!("{{\"functionCall\":{{{call}}}}}"))));
        }
        let outcome = result.map(|result| outcome(&named, result)).unwrap_or_default();
        results.extend(outcome.into_iter().enumerate().map(|(at, part)| (Source::Result(index, at), part)));
    }
    let turns = [turn(Role::Model, model, keep), turn(Role::User, results, keep)];
    turns.into_iter().filter(|turn| !turn.parts.is_empty()).collect()
}

/// The parts of the result of a tool call, which has these members. A text is the output of the tool.
fn outcome<'r>(named: &[String], result: &'r str) -> Vec<Cow<'r, str>> {
    match result {
        "\"\"" => Vec::new(),
        text if text.starts_with('"') => {
            let named: String = named.iter().flat_map(|member| [member.as_str(), ","]).collect();
            vec![Cow::Owned(format!("{{\"functionResponse\":{{{named}\"response\":{{\"output\":{text}}}}}}}"))]
        }
        _ => parts(result).into_iter().map(|(_, part)| part).collect(),
    }
}

/// The parts of a content: a text, a part, or a list of both.
fn parts(content: &str) -> Vec<(Source, Cow<'_, str>)> {
    match elements(content) {
        Some(list) => list.iter().enumerate().map(|(index, value)| (Source::KeptTexts(index), part(value))).collect(),
        None if content.starts_with(['"', '{']) => vec![(Source::Whole, part(content))],
        None => Vec::new(),
    }
}

/// A part of a content: a text counts as one.
fn part(value: &str) -> Cow<'_, str> {
    if value.starts_with('"') { Cow::Owned(format!("{{\"text\":{value}}}")) } else { Cow::Borrowed(value) }
}

/// Whether a part has a member that is not nothing.
pub(super) fn has(part: &str, member: &str) -> bool {
    let found = members(part, &[member]).ok().and_then(|[value]| value);
    found.is_some_and(|value| !matches!(value, "null" | "false" | "\"\""))
}

/// Whether Gemini CLI leaves out a message of the user: it is empty, a command, or context that is sent anew.
fn is_ignored(parts: &[(Source, Cow<'_, str>)]) -> bool {
    const STARTS: [&str; 4] = ["/", "?", "<session_context>", "<hook_context>"];
    for (_, part) in parts {
        let Some(part) = Object::of(part) else { return false };
        let Some(text) = part.string("text") else { return false };
        let text = text.trim_start();
        if !text.is_empty() {
            return STARTS.iter().any(|start| text.starts_with(start));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: &str) -> Vec<String> {
        let turns = turns(message, KeptTexts::Whole);
        let part = |(source, part): &(Source, String)| format!("{source:?} {part}");
        turns
            .iter()
            .map(|turn| {
                format!("{}: {}", turn.role.name(), turn.parts.iter().map(part).collect::<Vec<_>>().join(" | "))
            })
            .collect()
    }

    #[test]
    fn a_message_of_the_model_holds_calls_and_results() {
        let message = r#"{"id":"m","type":"gemini","content":"Look.","thoughts":[{"description":"x"}],"toolCalls":[
            {"id":"a","name":"read","args":{"p":1},"result":[{"functionResponse":{"id":"a"}},"more"],"status":"success"},
            {"id":"b","name":"run","args":{},"result":null},{"id":"c","name":"old","result":"text"}]}"#;
        let expected = [
            concat!(
                r#"model: Whole {"text":"Look."} | Call(0) {"functionCall":{"id":"a","name":"read","args":{"p":1}}} | "#,
                r#"Call(1) {"functionCall":{"id":"b","name":"run","args":{}}} | Call(2) {"functionCall":{"id":"c","name":"old"}}"#
            ),
            concat!(
                r#"user: Result(0, 0) {"functionResponse":{"id":"a"}} | Result(0, 1) {"text":"more"} | "#,
                r#"Result(2, 0) {"functionResponse":{"id":"c","name":"old","response":{"output":"text"}}}"#
            ),
        ];
        assert_eq!(shown(message), expected);
    }

    #[test]
    fn a_content_with_calls_is_complete_and_thoughts_are_left_out() {
        let message = r#"{"type":"gemini","content":[{"text":"hm","thought":true},{"functionCall":{"id":"a"},"thoughtSignature":"s"}],
            "toolCalls":[{"id":"a","name":"read","args":{},"result":[]}]}"#;
        assert_eq!(shown(message), [r#"model: KeptTexts(1) {"functionCall":{"id":"a"},"thoughtSignature":"s"}"#]);
        assert_eq!(shown(r#"{"type":"gemini","content":"","thoughts":[{"subject":"x"}]}"#), Vec::<String>::new());
    }

    #[test]
    fn notes_and_commands_are_left_out() {
        for message in [
            r#"{"type":"info","content":"Request cancelled."}"#,
            r#"{"type":"user","content":"/chat save x"}"#,
            r#"{"type":"user","content":[{"text":"  "},{"text":"?"}]}"#,
            r#"{"type":"user","content":[{"text":"<session_context>x"}]}"#,
            r#"{"type":"user","content":[]}"#,
            r#"{"type":"model","parts":[{"text":"x"}]}"#,
        ] {
            assert_eq!(turns(message, KeptTexts::Whole), [], "{message}");
        }
        assert_eq!(
            shown(r#"{"type":"user","content":["a",{"inlineData":{}}]}"#),
            [r#"user: KeptTexts(0) {"text":"a"} | KeptTexts(1) {"inlineData":{}}"#]
        );
    }
}
