//! Gemini's conversations whose calls and results have an id or none: where one of the two has none, the tool and the order
//! tell which call a result answers.

use seamline::check;
use seamline_testkit::{Dialect, strict};
use serde_json::{Value, json};

use super::convert::{into, parsed};
use super::laws::{self, Mendable, Outcome};

/// The most messages of a conversation, of which the first is the user's.
const LENGTH_MAX: usize = 5;
/// The most failures that are shown.
const SHOWN_MAX: usize = 3;

/// One message of the alphabet.
#[derive(Clone, Copy, Debug)]
enum Kind {
    UserText,
    AssistantText,
    /// Calls of the tool `f` with these ids; an empty one is missing.
    Calls(&'static [&'static str]),
    /// Results of the tool `f` with these ids, likewise.
    Results(&'static [&'static str]),
    /// A result of the tool `g` without an id, which has no call.
    Other,
}

use Kind::{AssistantText, Calls, Other, Results, UserText};

const ALPHABET: [Kind; 12] = [
    UserText,
    AssistantText,
    Calls(&["1"]),
    Calls(&[""]),
    Calls(&["1", "2"]),
    Calls(&["", "2"]),
    Results(&[""]),
    Results(&["1"]),
    Results(&["", ""]),
    Results(&["", "1"]),
    Results(&["2", "3"]),
    Other,
];

fn held(id: &str, name: &str, (key, value): (&str, Value)) -> Value {
    let mut held = json!({"name": name, key: value});
    if !id.is_empty() {
        held["id"] = json!(id);
    }
    held
}

fn content(index: usize, kind: Kind) -> Value {
    let call = |(at, id): (usize, &&str)| json!({"functionCall": held(id, "f", ("args", json!({"step": format!("call-{index}-{at}:")})))});
    let result = |name: &str, at: usize, id: &str| {
        let output = json!({"output": format!("result-{index}-{at}:")});
        json!({"functionResponse": held(id, name, ("response", output))})
    };
    let (role, parts) = match kind {
        UserText => ("user", vec![json!({"text": format!("user-{index}:")})]),
        AssistantText => ("model", vec![json!({"text": format!("assistant-{index}:")})]),
        Calls(ids) => ("model", ids.iter().enumerate().map(call).collect()),
        Results(ids) => ("user", ids.iter().enumerate().map(|(at, id)| result("f", at, id)).collect()),
        Other => ("user", vec![result("g", 0, "")]),
    };
    json!({"role": role, "parts": parts})
}

fn body(kinds: &[Kind]) -> String {
    let contents: Vec<Value> = kinds.iter().enumerate().map(|(index, kind)| content(index, *kind)).collect();
    json!({"contents": contents}).to_string()
}

fn payloads(kinds: &[Kind]) -> Vec<String> {
    let of = |(index, kind): (usize, &Kind)| match kind {
        UserText => vec![format!("user-{index}:")],
        AssistantText => vec![format!("assistant-{index}:")],
        Calls(ids) => (0..ids.len()).map(|at| format!("call-{index}-{at}:")).collect(),
        Results(ids) => (0..ids.len()).map(|at| format!("result-{index}-{at}:")).collect(),
        Other => vec![format!("result-{index}-0:")],
    };
    kinds.iter().enumerate().flat_map(of).collect()
}

#[derive(Default)]
struct Walk {
    count: usize,
    accepted: usize,
    failed: usize,
    failures: Vec<String>,
}

impl Walk {
    fn visit(&mut self, kinds: &mut Vec<Kind>, head: Option<&Outcome<'_>>) {
        let body = body(kinds);
        let outcome = laws::hold(Dialect::GeminiGenerate, &body, &payloads(kinds), Mendable::Wholly);
        self.count += 1;
        let stable = match (head, &outcome) {
            (Some(head), Ok(whole)) => laws::prefix_stable(head, whole),
            _ => Ok(()),
        };
        let harm = self.harm(&body);
        let failures = [outcome.as_ref().err(), stable.as_ref().err(), harm.as_ref().err()];
        for failure in failures.into_iter().flatten() {
            self.failed += 1;
            if self.failures.len() < SHOWN_MAX {
                self.failures.push(format!("{kinds:?}: {failure}"));
            }
        }
        if kinds.len() == LENGTH_MAX {
            return;
        }
        for kind in ALPHABET {
            kinds.push(kind);
            self.visit(kinds, outcome.as_ref().ok());
            kinds.pop();
        }
    }

    /// L12: a conversation that the strict check accepts has no finding.
    fn harm(&mut self, body: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        if !strict::check(Dialect::GeminiGenerate, &value).is_empty() {
            return Ok(());
        }
        self.accepted += 1;
        let checked = check(body.as_bytes(), &laws::options(Dialect::GeminiGenerate));
        let findings = checked.map_err(|error| error.to_string())?.findings;
        let codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        if codes.is_empty() { Ok(()) } else { Err(format!("L12: {codes:?} in {body}")) }
    }
}

#[test]
fn every_small_conversation_with_some_ids_missing_obeys_the_laws() {
    let mut walk = Walk::default();
    walk.visit(&mut vec![UserText], None);
    let expected: usize = (0..LENGTH_MAX as u32).map(|length| ALPHABET.len().pow(length)).sum();
    assert_eq!(walk.count, expected);
    assert!(walk.accepted > 100, "only {} conversations are accepted", walk.accepted);
    assert!(walk.failed == 0, "{} of {} fail, the first:\n{}", walk.failed, walk.count, walk.failures.join("\n\n"));
}

#[test]
fn results_without_ids_go_over_with_their_calls() {
    let held = |name: &str, members: &Value| json!({name: members});
    let call = |id: &str, n: u32| {
        let id = (!id.is_empty()).then_some(id);
        held("functionCall", &json!({"id": id, "name": "f", "args": {"n": n}}))
    };
    let result = |id: &str, n: u32| {
        let id = (!id.is_empty()).then_some(id);
        held("functionResponse", &json!({"id": id, "name": "f", "response": {"output": n.to_string()}}))
    };
    let content = |role: &str, parts: Vec<Value>| json!({"role": role, "parts": parts});
    let text = |text: &str| content("user", vec![json!({"text": text})]);
    let calls = [
        vec![content("model", vec![call("c1", 1), call("c2", 2)])],
        vec![content("model", vec![call("", 1), call("", 2)])],
        vec![content("model", vec![call("c1", 1)]), content("model", vec![call("c2", 2)])],
    ];
    for calls in &calls {
        let ids = if calls[0].to_string().contains("c1") { ["c1", "c2"] } else { ["x1", "x2"] };
        let answers = [
            [result("", 1), result("", 2)],
            [result("", 2), result(ids[0], 1)],
            [result(ids[1], 2), result("", 1)],
            [result(ids[0], 1), result(ids[1], 2)],
        ];
        // Without ids of calls, the ids of results say nothing about the order.
        let count = if ids[0] == "c1" { 4 } else { 1 };
        for answers in answers.iter().take(count).chain(answers.last()) {
            let contents = [&[text("go")][..], calls, &[content("user", answers.to_vec())]].concat();
            let body = json!({"contents": contents});
            let converted = into(body.to_string().as_bytes(), "gemini", "anthropic");
            assert_eq!(converted.repairs, [], "{body}");
            let messages = parsed(&converted.body)["messages"].clone();
            let all = messages.as_array().unwrap().iter().filter_map(|message| message["content"].as_array()).flatten();
            let all: Vec<&Value> = all.collect();
            for call in all.iter().filter(|block| block["type"] == "tool_use") {
                let result = all.iter().find(|block| block["tool_use_id"] == call["id"]).unwrap();
                assert_eq!(result["content"], call["input"]["n"].to_string(), "{body}");
            }
        }
    }
}
