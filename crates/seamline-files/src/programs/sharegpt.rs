//! `ShareGPT`: conversations for training.
//!
//! A conversation is a list of turns without ids. Trainers want `human` and `observation` to alternate with `gpt` and
//! `function_call`, so it is read as a request for a server where roles alternate.

use std::borrow::Cow;

use serde_json::Value;

use crate::Program;
use crate::bodies::{Bodies, HeldBody};
use crate::json::{Object, elements, quoted};
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    extract: Some(
        r#"jq '(.[0]? // .) | {messages: [.conversations[] | {role: ({human: "user", gpt: "assistant"}[.from] // .from), content: .value}]}' FILE"#,
    ),
    advice: "Seamline does not write training sets in the form of ShareGPT; remove the conversations that it lists",
    ..Program::of_bodies("ShareGPT", "a training set in the form of ShareGPT", detect, &BODIES)
};

static BODIES: Bodies = Bodies {
    document: Some(|text| {
        let object = || Object::of(text)?.get("data").and_then(elements);
        let alone = || Object::of(text)?.get("conversations").map(|_| vec![text.trim()]);
        elements(text).or_else(object).or_else(alone)
    }),
    find,
    provider: Some("anthropic-compatible"),
    is_writable: false,
};

fn detect(sample: &Sample<'_>) -> bool {
    let is_turn = |turn: &Value| has(turn, &["from", "value"]);
    let is_talk = |talk: &Value| {
        let turns = talk.get("conversations").and_then(Value::as_array);
        turns.is_some_and(|turns| turns.iter().any(is_turn))
    };
    sample.any(is_talk) || sample.list("data").iter().any(is_talk)
}

/// Makes a request of a conversation.
fn find(record: &str) -> Option<HeldBody<'_>> {
    let turns = Object::of(record)?.get("conversations").and_then(elements)?;
    let mut talk = Talk::default();
    for (index, turn) in turns.iter().enumerate() {
        talk.add(index, &Object::of(turn)?)?;
    }
    let text = format!(r#"{{"messages":[{}]}}"#, talk.messages.join(","));
    Some(HeldBody { text: Cow::Owned(text), span: 0..record.len(), pointer: "", messages: Some(talk.pointers) })
}

#[derive(Default)]
struct Talk {
    messages: Vec<String>,
    pointers: Vec<String>,
    /// How many calls and results there are. A result answers the call right before it.
    calls: usize,
    results: usize,
    /// Whether the last turn is a call.
    is_called: bool,
}

impl Talk {
    fn add(&mut self, index: usize, turn: &Object<'_>) -> Option<()> {
        let from = turn.string("from")?;
        let value = turn.string("value").unwrap_or_default();
        let is_called = std::mem::take(&mut self.is_called);
        let (role, block) = match from.as_str() {
            // The system text is not one of the turns.
            "system" => return Some(()),
            "human" | "user" => ("user", text_block(&value)),
            "gpt" | "assistant" | "chatgpt" | "bing" | "bard" => ("assistant", text_block(&value)),
            "function_call" => ("assistant", self.call(&value)),
            "observation" | "tool" | "function_response" => ("user", self.result(&value, is_called)),
            _ => return None,
        };
        self.messages.push(format!(r#"{{"role":"{role}","content":[{block}]}}"#));
        self.pointers.push(format!("/conversations/{index}"));
        Some(())
    }

    fn call(&mut self, value: &str) -> String {
        self.calls += 1;
        self.is_called = true;
        let first = elements(value).and_then(|calls| calls.first().map(|call| (*call).to_owned()));
        let call = first.unwrap_or_else(|| value.to_owned());
        let call = Object::of(&call);
        let name = call.as_ref().and_then(|call| call.string("name")).unwrap_or_else(|| "function".to_owned());
        let input = call.as_ref().and_then(|call| call.get("arguments")).filter(|input| Object::of(input).is_some());
        let input = input.unwrap_or("{}");
        format!(r#"{{"type":"tool_use","id":"call_{}","name":{},"input":{input}}}"#, self.calls, quoted(&name))
    }

    fn result(&mut self, value: &str, is_called: bool) -> String {
        self.results += 1;
        let id = if is_called { format!("call_{}", self.calls) } else { format!("observation_{}", self.results) };
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{}}}"#, quoted(value))
    }
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}
