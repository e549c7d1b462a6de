//! Calls and results.

use serde_json::json;

use super::{accepts, assistant, call, calling, rejects, result, user};
use crate::strict::ViolationKind::{DuplicateCallId, DuplicateResult, OrphanResult, UnansweredCall};

#[test]
fn a_cycle_is_accepted_in_any_order_of_results() {
    accepts(&json!([calling(&json!([call("A"), call("B")])), result("B"), result("A"), user("next")]));
}

#[test]
fn a_call_without_a_result_before_another_role_is_unanswered() {
    let one = calling(&json!([call("A")]));
    rejects(&json!([user("go"), one]), &[(1, UnansweredCall)]);
    rejects(&json!([one, assistant("moving on")]), &[(0, UnansweredCall)]);
    rejects(&json!([one, user("steer"), result("A")]), &[(0, UnansweredCall), (2, OrphanResult)]);
    let system = json!({"role": "system", "content": "note"});
    rejects(&json!([one, system, result("A")]), &[(0, UnansweredCall), (2, OrphanResult)]);
    rejects(&json!([calling(&json!([call("A"), call("B")])), result("A"), user("next")]), &[(0, UnansweredCall)]);
}

#[test]
fn adjacent_assistant_messages_are_not_one_run() {
    let messages = json!([calling(&json!([call("A")])), calling(&json!([call("B")])), result("A"), result("B")]);
    rejects(&messages, &[(0, UnansweredCall), (2, OrphanResult)]);
}

#[test]
fn a_result_without_its_call_is_an_orphan() {
    rejects(&json!([result("A"), assistant("done")]), &[(0, OrphanResult)]);
    rejects(&json!([assistant("hi"), result("A")]), &[(1, OrphanResult)]);
    rejects(&json!([calling(&json!([call("A")])), result("A"), result("Z")]), &[(2, OrphanResult)]);
    rejects(&json!([result("A"), calling(&json!([call("A")]))]), &[(0, OrphanResult), (1, UnansweredCall)]);
}

#[test]
fn a_second_result_is_a_duplicate() {
    rejects(&json!([calling(&json!([call("A")])), result("A"), result("A")]), &[(2, DuplicateResult)]);
}

#[test]
fn one_id_may_serve_two_turns_but_not_one_message() {
    let one = calling(&json!([call("A")]));
    accepts(&json!([one, result("A"), one, result("A")]));
    let twice = calling(&json!([call("A"), call("A")]));
    rejects(&json!([twice, result("A"), result("A")]), &[(0, DuplicateCallId)]);
    rejects(&json!([twice, result("A")]), &[(0, UnansweredCall), (0, DuplicateCallId)]);
}

#[test]
fn the_legacy_function_role_pairs_with_nothing_but_ends_a_cycle() {
    let function = json!({"role": "function", "name": "sh", "content": "out"});
    let legacy = json!({"role": "assistant", "content": null, "function_call": {"name": "sh", "arguments": "{}"}});
    accepts(&json!([user("go"), legacy, function]));
    rejects(&json!([calling(&json!([call("A")])), function, result("A")]), &[(0, UnansweredCall), (2, OrphanResult)]);
}
