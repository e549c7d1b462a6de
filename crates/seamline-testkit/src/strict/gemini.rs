//! The demands of Google's generateContent on `contents`.

use serde_json::Value;

use super::{
    Violation, ViolationKind,
    union::{Neighbours, Turn, check_pairs, member, unmet},
    wire,
};

/// GEM-7.
const NAME_CHARS_MAX: usize = 128;

/// Everything Google would reject, in no particular order.
pub(crate) fn check(body: &Value, contents: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (message, content) in contents.iter().enumerate() {
        violations.extend(content_kinds(content).into_iter().map(|kind| Violation { message, kind }));
    }
    let all: Vec<Held> = contents.iter().map(held).collect();
    let turns = turns(&all);
    // GEM-2, GEM-4; recorded requests answer neighbouring model contents together.
    check_pairs(&turns, Neighbours::Together, &mut violations);
    // The calls before the first content are in the cache.
    if wire::string(body, "cachedContent").is_some() && !held(contents.first().unwrap_or(&Value::Null)).from_model {
        violations.retain(|violation| violation.message > 0 || violation.kind != ViolationKind::OrphanResult);
    }
    check_names(contents, &turns, &mut violations);
    // GEM-3.
    let led = turns.iter().take_while(|turn| turn.from_model);
    if let Some(message) = led.into_iter().position(|turn| !turn.calls.is_empty()) {
        violations.push(Violation { message, kind: ViolationKind::CallOutOfOrder });
    }
    violations
}

/// GEM-8: the calls of one turn with one id are answered in their order, which the names show.
fn check_names(contents: &[Value], turns: &[Turn], violations: &mut Vec<Violation>) {
    for (at, turn) in turns.iter().enumerate().filter(|(_, turn)| turn.from_model && turn.calls.len() > 1) {
        let Some(next) = contents.get(at + 1).filter(|_| turns.get(at + 1).is_some_and(|next| !next.from_model)) else {
            continue;
        };
        for id in turn.calls.iter().flatten() {
            let called = names(&contents[at], call, id);
            let answered = names(next, result, id);
            if called != answered && sorted(&called) == sorted(&answered) {
                violations.push(Violation { message: at + 1, kind: ViolationKind::BadResultName });
                break;
            }
        }
    }
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

/// The names of the calls or results of a content with one id, in order.
fn names<'a>(content: &'a Value, held: fn(&Value) -> Option<&Value>, id: &str) -> Vec<&'a str> {
    let with_id = parts(content).iter().filter_map(held).filter(|held| key(held) == Some(id));
    with_id.filter_map(|held| wire::string(held, "name")).collect()
}

fn call(part: &Value) -> Option<&Value> {
    member(part, &["functionCall", "function_call"])
}

fn result(part: &Value) -> Option<&Value> {
    member(part, &["functionResponse", "function_response"])
}

fn parts(content: &Value) -> &[Value] {
    content.get("parts").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// GEM-8: the key of a call is its id, or the name of its tool if it has no id.
fn key(held: &Value) -> Option<&str> {
    let id = wire::string(held, "id").filter(|id| !id.is_empty());
    id.or_else(|| wire::string(held, "name"))
}

/// The calls and results of a content.
struct Held<'a> {
    from_model: bool,
    calls: Vec<Named<'a>>,
    results: Vec<Named<'a>>,
}

/// The id and the tool of a call or result.
#[derive(Clone, Copy)]
struct Named<'a> {
    id: Option<&'a str>,
    tool: Option<&'a str>,
}

impl<'a> Named<'a> {
    fn of(held: &'a Value) -> Self {
        let id = wire::string(held, "id").filter(|id| !id.is_empty());
        Self { id, tool: wire::string(held, "name") }
    }
}

fn held(content: &Value) -> Held<'_> {
    let from_model = wire::role(content) == "model";
    Held {
        from_model,
        calls: parts(content).iter().filter_map(call).map(Named::of).collect(),
        // In another role the violation is the wrong role.
        results: if from_model {
            Vec::new()
        } else {
            parts(content).iter().filter_map(result).map(Named::of).collect()
        },
    }
}

/// The contents with one key for each call and its result. Google's SDK sends results without ids to calls that have one,
/// and no rejection of them is known: where one of the two has no id, the tool and the order tell them apart.
fn turns<'a>(contents: &[Held<'a>]) -> Vec<Turn<'a>> {
    let keys = |all: &[Named<'a>]| all.iter().map(|named| named.id.or(named.tool)).collect();
    let mut turns: Vec<Turn> = contents
        .iter()
        .map(|held| Turn { from_model: held.from_model, calls: keys(&held.calls), results: keys(&held.results) })
        .collect();
    for at in 1..contents.len() {
        let run = contents[..at].iter().rev().take_while(|held| held.from_model && !held.calls.is_empty()).count();
        if contents[at].from_model || run == 0 {
            continue;
        }
        let calls: Vec<Named> = contents[at - run..at].iter().flat_map(|held| held.calls.iter().copied()).collect();
        let results = &contents[at].results;
        let mut taken = vec![false; calls.len()];
        let mut answers: Vec<Option<usize>> = vec![None; results.len()];
        let named = |result: &Named| calls.iter().filter(|call| result.id.is_some() && call.id == result.id).count();
        let mut assign = |is_asked: &dyn Fn(&Named) -> bool| {
            for (place, result) in results.iter().enumerate().filter(|(_, result)| is_asked(result)) {
                let find = |fits: &dyn Fn(&Named) -> bool| (0..calls.len()).find(|&at| !taken[at] && fits(&calls[at]));
                let free = match (result.id, named(result)) {
                    (None, _) => find(&|call| call.tool == result.tool),
                    (Some(_), 0) => find(&|call| call.id.is_none() && call.tool == result.tool),
                    // A call of the same tool wins over other calls with the id of the result.
                    (Some(_), _) => find(&|call| call.id == result.id && call.tool == result.tool)
                        .or_else(|| find(&|call| call.id == result.id)),
                };
                if let Some(call) = free.filter(|_| answers[place].is_none()) {
                    taken[call] = true;
                    answers[place] = Some(call);
                }
            }
        };
        // An id that one call has tells which call is meant. No source says more about the others than their order.
        assign(&|result| named(result) == 1);
        assign(&|result| named(result) != 1);
        for (place, call) in answers.iter().enumerate() {
            if let Some(call) = call {
                let key = calls[*call].id.or(calls[*call].tool);
                turns[at].results[place] = key;
            }
        }
    }
    turns
}

fn content_kinds(content: &Value) -> Vec<ViolationKind> {
    if !content.is_object() {
        return vec![ViolationKind::Malformed];
    }
    // GEM-6. A missing role means the user.
    let role = if content.get("role").is_none() { "user" } else { wire::role(content) };
    if !matches!(role, "user" | "model" | "function") {
        return vec![ViolationKind::UnknownRole];
    }
    match content.get("parts").and_then(Value::as_array) {
        None => vec![ViolationKind::BadContent],
        // GEM-5.
        Some(parts) if parts.is_empty() => vec![ViolationKind::EmptyContent],
        Some(parts) => parts.iter().flat_map(|part| part_kinds(role, part)).collect(),
    }
}

fn part_kinds(role: &str, part: &Value) -> Vec<ViolationKind> {
    if let Some(call) = call(part) {
        return unmet([
            (role == "model", ViolationKind::CallInWrongRole),
            (is_name(call.get("name")), ViolationKind::BadToolName),
            (call.get("args").is_none_or(Value::is_object), ViolationKind::BadInput),
        ]);
    }
    if let Some(result) = result(part) {
        return unmet([
            (role != "model", ViolationKind::ResultInWrongRole),
            (wire::string(result, "name").is_some_and(|name| !name.is_empty()), ViolationKind::BadResultName),
            (result.get("response").is_none_or(Value::is_object), ViolationKind::BadResultContent),
        ]);
    }
    if part.is_object() { Vec::new() } else { vec![ViolationKind::Malformed] }
}

/// GEM-7: `[a-zA-Z0-9_.:-]{1,128}`.
fn is_name(value: Option<&Value>) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    let text = value.and_then(Value::as_str);
    text.is_some_and(|text| (1..=NAME_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_legal))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Dialect, strict, strict::ViolationKind as K};

    fn found(contents: &Value) -> Vec<K> {
        let body = json!({"contents": contents});
        strict::check(Dialect::GeminiGenerate, &body).iter().map(|violation| violation.kind).collect()
    }

    fn cycle(call: &Value, result: &Value) -> Value {
        json!([
            {"parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": call}]},
            {"role": "function", "parts": [{"function_response": result}]},
        ])
    }

    #[test]
    fn calls_are_paired_by_id_or_name() {
        assert_eq!(found(&cycle(&json!({"name": "f"}), &json!({"name": "f", "response": {}}))), []);
        assert_eq!(found(&cycle(&json!({"id": "1", "name": "f"}), &json!({"id": "1", "name": "f"}))), []);
        let crossed = cycle(&json!({"id": "1", "name": "f"}), &json!({"id": "2", "name": "f"}));
        assert_eq!(found(&crossed), [K::UnansweredCall, K::OrphanResult]);
    }

    #[test]
    fn a_missing_id_contradicts_no_other_id() {
        let turn = |calls: &[Value], results: &[Value]| {
            let parts = |name: &str, held: &[Value]| held.iter().map(|held| json!({name: held})).collect::<Vec<_>>();
            found(&json!([
                {"parts": [{"text": "go"}]},
                {"role": "model", "parts": parts("functionCall", calls)},
                {"role": "user", "parts": parts("functionResponse", results)},
            ]))
        };
        let (one, two) = (json!({"id": "1", "name": "f"}), json!({"id": "2", "name": "f"}));
        let (bare, other) = (json!({"name": "f"}), json!({"name": "g"}));
        for results in [[&bare, &bare], [&bare, &one], [&two, &bare], [&two, &one]] {
            assert_eq!(turn(&[one.clone(), two.clone()], &results.map(Clone::clone)), []);
        }
        for results in [[&bare, &bare], [&bare, &one], [&two, &one]] {
            assert_eq!(turn(&[bare.clone(), bare.clone()], &results.map(Clone::clone)), []);
        }
        // The order tells which call each answers; an id that no call has answers no other id.
        let strange = json!({"id": "3", "name": "f"});
        assert_eq!(turn(&[bare.clone(), two.clone()], &[strange.clone(), bare.clone()]), []);
        let crossed = turn(&[bare.clone(), two.clone()], &[bare.clone(), strange]);
        assert_eq!(crossed, [K::UnansweredCall, K::OrphanResult]);
        assert_eq!(turn(&[one.clone(), two.clone()], std::slice::from_ref(&bare)), [K::UnansweredCall]);
        assert_eq!(turn(&[one.clone(), two], &[bare, other.clone()]), [K::UnansweredCall, K::OrphanResult]);
        assert_eq!(turn(&[one], &[other]), [K::UnansweredCall, K::OrphanResult]);
    }

    #[test]
    fn each_demand_is_checked() {
        let call = json!({"id": "1", "name": "f!", "args": []});
        let result = json!({"id": "1", "response": "out"});
        assert_eq!(found(&cycle(&call, &result)), [K::BadToolName, K::BadInput, K::BadResultContent, K::BadResultName]);
        let contents = json!([
            {"role": "model", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f"}}, {"functionResponse": {"name": "f"}}]},
            {"role": "assistant", "parts": [{"text": ""}]},
            {"role": "user", "parts": []},
        ]);
        assert_eq!(found(&contents), [K::CallOutOfOrder, K::DuplicateResult, K::UnknownRole, K::EmptyContent]);
    }
}
