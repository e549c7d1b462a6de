//! Items that are accepted and items that are rejected.

use serde_json::{Value, json};

use crate::{
    Dialect,
    strict::{self, ViolationKind as K},
};

fn kinds(input: &Value) -> Vec<K> {
    let body = json!({"model": "gpt-5", "input": input});
    strict::check(Dialect::OpenAiResponses, &body).iter().map(|violation| violation.kind).collect()
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "search", "arguments": "{}"})
}

fn result(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "out"})
}

fn speech(role: &str) -> Value {
    json!({"role": role, "content": "hi"})
}

#[test]
fn a_result_may_be_anywhere_after_its_call() {
    assert_eq!(kinds(&json!([call("a"), call("b"), result("b"), result("a")])), []);
    assert_eq!(
        kinds(&json!([call("a"), speech("assistant"), speech("user"), call("b"), result("a"), result("b")])),
        []
    );
    assert_eq!(kinds(&json!([result("a"), call("a")])), [K::OrphanResult, K::UnansweredCall]);
    assert_eq!(kinds(&json!([call("a"), result("a"), result("a")])), [K::DuplicateResult]);
    assert_eq!(kinds(&json!([call("a"), call("a"), result("a"), result("a")])), [K::DuplicateCallId]);
    assert_eq!(kinds(&json!([call("a"), result("a"), call("a"), result("a")])), []);
}

#[test]
fn a_result_has_the_type_that_its_call_demands() {
    let custom = json!({"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": ""});
    assert_eq!(kinds(&json!([custom, result("a")])), [K::BadResultType]);
}

#[test]
fn reasoning_with_an_id_needs_the_item_that_follows_it() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let named = json!({"type": "message", "id": "msg_1", "role": "assistant", "content": "hi"});
    assert_eq!(kinds(&json!([reasoning, named])), []);
    assert_eq!(kinds(&json!([reasoning, speech("assistant")])), [K::DanglingReasoning]);
    assert_eq!(kinds(&json!([reasoning, speech("user")])), [K::DanglingReasoning]);
    assert_eq!(kinds(&json!([reasoning])), [K::DanglingReasoning]);
    assert_eq!(kinds(&json!([{"type": "reasoning", "summary": []}, speech("user")])), []);
}

#[test]
fn ids_of_items_have_a_form_and_are_unique() {
    let named = |id: &str| json!({"type": "message", "id": id, "role": "assistant", "content": "hi"});
    assert_eq!(kinds(&json!([named("msg_1"), named("msg_2")])), []);
    assert_eq!(kinds(&json!([named("msg_1"), named("msg_1")])), [K::DuplicateItemId]);
    for wrong in ["", "019f-uuid", "msg.1"] {
        assert_eq!(kinds(&json!([named(wrong)])), [K::BadItemId], "{wrong}");
    }
}

#[test]
fn parts_belong_to_roles_and_a_trigger_comes_last() {
    let part = |role: &str, kind: &str| json!({"role": role, "content": [{"type": kind, "text": "hi"}]});
    assert_eq!(kinds(&json!([part("user", "input_text"), part("assistant", "output_text")])), []);
    assert_eq!(kinds(&json!([part("user", "output_text"), part("assistant", "text")])), [K::BadContent; 2]);
    let trigger = json!({"type": "compaction_trigger"});
    assert_eq!(kinds(&json!([speech("user"), trigger])), []);
    assert_eq!(kinds(&json!([trigger, speech("user")])), [K::EarlyTrigger]);
}

#[test]
fn a_text_is_an_input_and_an_empty_list_is_not() {
    assert_eq!(kinds(&json!("hello")), []);
    assert_eq!(kinds(&json!([])), [K::NoMessages]);
    assert_eq!(kinds(&json!(null)), [K::NoMessages]);
}

#[test]
fn results_are_right_behind_the_batch_of_their_calls_for_deepseek() {
    let found = |items: serde_json::Value| {
        let violations = crate::strict::check_deepseek_responses(&json!({"input": items}));
        violations.into_iter().map(|violation| (violation.message, violation.kind)).collect::<Vec<_>>()
    };
    assert_eq!(found(json!([call("a"), call("b"), result("b"), result("a"), speech("user")])), []);
    assert_eq!(found(json!([call("a"), result("a"), call("b"), result("b")])), []);
    assert_eq!(found(json!([call("a"), speech("developer"), result("a")])), [(0, K::UnansweredCall)]);
    assert_eq!(
        found(json!([call("a"), call("b"), result("a"), call("c"), result("b"), result("c")])),
        [(1, K::UnansweredCall)]
    );
    let reasoning = json!({"type": "reasoning", "summary": []});
    assert_eq!(found(json!([call("a"), reasoning, call("b"), result("a"), result("b")])), [(0, K::UnansweredCall)]);
    assert_eq!(found(json!([call("a")])), [(0, K::UnansweredCall)]);
}
