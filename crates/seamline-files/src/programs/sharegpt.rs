//! `ShareGPT`: conversations for training.

use crate::Program;
use crate::sample::{Sample, has};
use serde_json::Value;

pub(super) const PROGRAM: Program = Program {
    name: "ShareGPT",
    what: "a training set in the form of ShareGPT",
    places: &[],
    extract: Some(
        r#"jq '(.[0]? // .) | {messages: [.conversations[] | {role: ({human: "user", gpt: "assistant"}[.from] // .from), content: .value}]}' FILE"#,
    ),
    advice: Program::GIVE_BODY,
    detect,
    session: None,
    bodies: None,
};

fn detect(sample: &Sample<'_>) -> bool {
    let is_turn = |turn: &Value| has(turn, &["from", "value"]);
    let is_talk = |talk: &Value| {
        let turns = talk.get("conversations").and_then(Value::as_array);
        turns.is_some_and(|turns| turns.iter().any(is_turn))
    };
    sample.any(is_talk) || sample.list("data").iter().any(is_talk)
}
