//! The demands of Bedrock's Converse on `messages`.

use serde_json::Value;

use super::{
    Violation, ViolationKind,
    ident::is_word,
    union::{Neighbours, Turn, check_pairs, member, unmet},
    wire,
};

/// BED-2, BED-3.
const CHARS_MAX: usize = 64;

/// Everything Converse would reject, in no particular order.
pub(crate) fn check(body: &Value, messages: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let is_claude =
        ["modelId", "model"].iter().any(|key| wire::string(body, key).is_some_and(|id| id.contains("claude")));
    for (message, held) in messages.iter().enumerate() {
        // pydantic-ai#6081: Claude finds no result in a message that also holds a document.
        if is_claude && wire::blocks(held).iter().any(|block| result(block).is_some()) && holds_document(held) {
            violations.push(Violation { message, kind: ViolationKind::UnansweredCall });
        }
        violations.extend(message_kinds(held).into_iter().map(|kind| Violation { message, kind }));
        // BED-7.
        let before = message.checked_sub(1).map(|before| wire::role(&messages[before]));
        if matches!(wire::role(held), "user" | "assistant") && before == Some(wire::role(held)) {
            violations.push(Violation { message, kind: ViolationKind::SameRole });
        }
    }
    let turns: Vec<Turn> = messages.iter().map(turn).collect();
    check_unique(&turns, &mut violations);
    check_pairs(&turns, Neighbours::Apart, &mut violations);
    // BED-6.
    let uses = |message: &Value| wire::blocks(message).iter().any(|block| call(block).or(result(block)).is_some());
    if body.get("toolConfig").is_none() && messages.iter().any(uses) {
        violations.push(Violation { message: 0, kind: ViolationKind::UndeclaredTools });
    }
    violations
}

fn call(block: &Value) -> Option<&Value> {
    member(block, &["toolUse"])
}

fn result(block: &Value) -> Option<&Value> {
    member(block, &["toolResult"])
}

/// Whether a message holds a document of a format that must not be beside results.
fn holds_document(message: &Value) -> bool {
    let document = |block: &Value| block.get("document").is_some_and(|held| held["format"] != "pdf");
    wire::blocks(message).iter().any(document)
}

fn turn(message: &Value) -> Turn<'_> {
    let id = |held| wire::string(held, "toolUseId");
    Turn {
        from_model: wire::role(message) == "assistant",
        calls: wire::blocks(message).iter().filter_map(call).map(id).collect(),
        // In another role the violation is the wrong role.
        results: match wire::role(message) {
            "user" => wire::blocks(message).iter().filter_map(result).map(id).collect(),
            _ => Vec::new(),
        },
    }
}

fn check_unique(turns: &[Turn], violations: &mut Vec<Violation>) {
    for (message, turn) in turns.iter().enumerate() {
        for (index, id) in turn.calls.iter().enumerate() {
            if id.is_some() && turn.from_model && turn.calls[..index].contains(id) {
                violations.push(Violation { message, kind: ViolationKind::DuplicateCallId });
            }
        }
    }
}

fn message_kinds(message: &Value) -> Vec<ViolationKind> {
    let role = wire::role(message);
    if !message.is_object() {
        return vec![ViolationKind::Malformed];
    }
    if !matches!(role, "user" | "assistant" | "system") {
        return vec![ViolationKind::UnknownRole];
    }
    match message.get("content").and_then(Value::as_array) {
        None => vec![ViolationKind::BadContent],
        // BED-19: a cache mark is not content.
        Some(blocks) if blocks.iter().all(is_cache_point) => vec![ViolationKind::EmptyContent],
        Some(blocks) => blocks.iter().flat_map(|block| block_kinds(role, block)).collect(),
    }
}

fn block_kinds(role: &str, block: &Value) -> Vec<ViolationKind> {
    if let Some(call) = call(block) {
        return unmet([
            (role == "assistant", ViolationKind::CallInWrongRole),
            (is_id(call.get("toolUseId")), ViolationKind::BadCallId),
            (is_word(call.get("name"), CHARS_MAX), ViolationKind::BadToolName),
            // BED-10.
            (call.get("input").is_some_and(Value::is_object), ViolationKind::BadInput),
        ]);
    }
    if let Some(result) = result(block) {
        let content = result.get("content").and_then(Value::as_array);
        let failed = wire::string(result, "status") == Some("error");
        return unmet([
            (role == "user", ViolationKind::ResultInWrongRole),
            (is_id(result.get("toolUseId")), ViolationKind::BadResultId),
            (content.is_some_and(|parts| parts.iter().all(is_part)), ViolationKind::BadResultContent),
            // BED-9.
            (!failed || !content.is_some_and(|parts| parts.iter().all(is_blank)), ViolationKind::EmptyFailure),
        ]);
    }
    match block.get("text").and_then(Value::as_str) {
        // BED-8.
        Some(text) if text.trim().is_empty() => vec![ViolationKind::EmptyText],
        _ if !block.is_object() => vec![ViolationKind::Malformed],
        _ => Vec::new(),
    }
}

/// BED-2: `[a-zA-Z0-9_.:-]{1,64}`.
fn is_id(value: Option<&Value>) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    let text = value.and_then(Value::as_str);
    text.is_some_and(|text| (1..=CHARS_MAX).contains(&text.len()) && text.bytes().all(is_legal))
}

fn is_cache_point(block: &Value) -> bool {
    block.get("cachePoint").is_some()
}

/// BED-10.
fn is_part(part: &Value) -> bool {
    part.is_object() && part.get("json").is_none_or(Value::is_object)
}

fn is_blank(part: &Value) -> bool {
    wire::string(part, "text").is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Dialect, strict, strict::ViolationKind as K};

    fn found(body: &Value) -> Vec<K> {
        strict::check(Dialect::BedrockConverse, body).iter().map(|violation| violation.kind).collect()
    }

    fn cycle(call: &Value, result: &Value) -> Value {
        json!({"toolConfig": {"tools": []}, "messages": [
            {"role": "user", "content": [{"text": "go"}]},
            {"role": "assistant", "content": [{"toolUse": call}]},
            {"role": "user", "content": [{"toolResult": result}]},
        ]})
    }

    #[test]
    fn claude_takes_no_text_document_beside_results() {
        let body = |model: &str, format: &str| {
            let mut body = cycle(
                &json!({"toolUseId": "t1", "name": "read", "input": {}}),
                &json!({"toolUseId": "t1", "content": [{"text": "ok"}]}),
            );
            body["modelId"] = json!(model);
            let document = json!({"document": {"format": format, "name": "a", "source": {"bytes": "YQ=="}}});
            body["messages"][2]["content"].as_array_mut().unwrap().push(document);
            body
        };
        assert_eq!(found(&body("us.anthropic.claude-sonnet-4-5", "txt")), [K::UnansweredCall]);
        assert_eq!(found(&body("us.anthropic.claude-sonnet-4-5", "pdf")), []);
        assert_eq!(found(&body("us.amazon.nova-pro-v1:0", "txt")), []);
    }

    #[test]
    fn a_complete_cycle_is_accepted() {
        let call = json!({"toolUseId": "functions.f:0", "name": "f", "input": {}});
        let result = json!({"toolUseId": "functions.f:0", "content": []});
        assert_eq!(found(&cycle(&call, &result)), []);
        let mut undeclared = cycle(&call, &result);
        undeclared.as_object_mut().unwrap().remove("toolConfig");
        assert_eq!(found(&undeclared), [K::UndeclaredTools]);
    }

    #[test]
    fn each_demand_is_checked() {
        let call = json!({"toolUseId": "a b", "name": "f!", "input": "{}"});
        let result = json!({"toolUseId": "a b", "content": [], "status": "error"});
        assert_eq!(
            found(&cycle(&call, &result)),
            [K::BadCallId, K::BadToolName, K::BadInput, K::BadResultId, K::EmptyFailure]
        );
        let call = json!({"toolUseId": "A", "name": "f", "input": {}});
        let other = json!({"toolUseId": "B", "content": [{"json": 7}]});
        assert_eq!(found(&cycle(&call, &other)), [K::UnansweredCall, K::OrphanResult, K::BadResultContent]);
        let messages = json!([
            {"role": "user", "content": [{"text": " "}]},
            {"role": "user", "content": []},
            {"role": "assistant", "content": "hi"},
        ]);
        let expected = [K::EmptyText, K::EmptyContent, K::SameRole, K::BadContent];
        assert_eq!(found(&json!({"messages": messages})), expected);
    }
}
