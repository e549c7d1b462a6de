//! Calls and results.

use serde_json::json;

use super::{accepts, assistant, call, cycle, rejects, result, text, user};
use crate::strict::ViolationKind::{DuplicateCallId, DuplicateResult, OrphanResult, ResultNotLeading, UnansweredCall};

#[test]
fn a_cycle_is_accepted_in_any_order_of_results_with_text_after_them() {
    accepts(&json!([assistant(&json!([call("A")])), user(&json!([result("A")]))]));
    accepts(&json!([
        assistant(&json!([call("A"), call("B")])),
        user(&json!([result("B"), result("A"), text("go on")]))
    ]));
}

#[test]
fn a_call_in_the_last_message_is_unanswered() {
    rejects(&json!([user(&json!("go")), assistant(&json!([text("ok"), call("A")]))]), &[(1, UnansweredCall)]);
}

#[test]
fn a_call_followed_by_another_message_is_unanswered() {
    let calling = assistant(&json!([call("A")]));
    rejects(&json!([calling, user(&json!("next"))]), &[(0, UnansweredCall)]);
    rejects(&json!([calling, assistant(&json!("moving on"))]), &[(0, UnansweredCall)]);
    let system = json!({"role": "system", "content": "note"});
    rejects(&json!([calling, system, user(&json!([result("A")]))]), &[(0, UnansweredCall), (2, OrphanResult)]);
}

#[test]
fn a_batch_answered_in_part_names_the_unanswered_call_only() {
    let messages = json!([assistant(&json!([call("A"), call("B")])), user(&json!([result("A")]))]);
    rejects(&messages, &[(0, UnansweredCall)]);
}

#[test]
fn results_split_over_two_messages_are_rejected() {
    let calling = assistant(&json!([call("A"), call("B")]));
    let messages = json!([calling, user(&json!([result("A")])), user(&json!([result("B")]))]);
    rejects(&messages, &[(0, UnansweredCall), (2, OrphanResult)]);
}

#[test]
fn adjacent_assistant_messages_with_calls_are_one_run() {
    let run = [assistant(&json!([call("A")])), assistant(&json!([text("and"), call("B")]))];
    accepts(&json!([run[0], run[1], user(&json!([result("A"), result("B")]))]));
    rejects(&json!([run[0], run[1], user(&json!([result("B")]))]), &[(0, UnansweredCall)]);
}

#[test]
fn text_between_calls_of_adjacent_assistant_messages_belongs_to_the_run() {
    let run = [assistant(&json!([call("A")])), assistant(&json!("aloud")), assistant(&json!([call("B")]))];
    accepts(&json!([run[0], run[1], run[2], user(&json!([result("A"), result("B")]))]));
    rejects(&json!([run[0], run[1], run[2], user(&json!([result("B")]))]), &[(0, UnansweredCall)]);
    rejects(
        &json!([run[0], user(&json!("no")), run[2], user(&json!([result("A"), result("B")]))]),
        &[(0, UnansweredCall), (3, OrphanResult)],
    );
}

#[test]
fn an_assistant_message_without_calls_breaks_a_run_but_may_precede_one() {
    let calling = assistant(&json!([call("A")]));
    let results = user(&json!([result("A")]));
    accepts(&json!([assistant(&json!("first")), calling, results]));
    rejects(&json!([calling, assistant(&json!("aloud")), results]), &[(0, UnansweredCall), (2, OrphanResult)]);
}

#[test]
fn a_result_without_its_call_is_an_orphan() {
    rejects(&json!([user(&json!([result("A")])), assistant(&json!("done"))]), &[(0, OrphanResult)]);
    rejects(&json!([user(&json!("go")), assistant(&json!("hi")), user(&json!([result("A")]))]), &[(2, OrphanResult)]);
    let messages = cycle(&call("A"), &result("B"));
    rejects(&messages, &[(1, UnansweredCall), (2, OrphanResult)]);
}

#[test]
fn a_result_before_its_call_is_an_orphan() {
    let messages = json!([user(&json!([result("A")])), assistant(&json!([call("A")])), user(&json!("next"))]);
    rejects(&messages, &[(0, OrphanResult), (1, UnansweredCall)]);
}

#[test]
fn a_second_result_is_a_duplicate_in_its_message_and_an_orphan_later() {
    let calling = assistant(&json!([call("A")]));
    rejects(&json!([calling, user(&json!([result("A"), result("A")]))]), &[(1, DuplicateResult)]);
    rejects(&json!([calling, user(&json!([result("A")])), user(&json!([result("A")]))]), &[(2, OrphanResult)]);
}

#[test]
fn a_block_before_a_result_is_rejected() {
    let calling = assistant(&json!([call("A"), call("B")]));
    for blocks in [
        json!([text("note"), result("A"), result("B")]),
        json!([result("A"), text("note"), result("B")]),
        json!([{"type": "image", "source": {}}, result("A"), result("B")]),
    ] {
        rejects(&json!([calling, user(&blocks)]), &[(1, ResultNotLeading)]);
    }
}

#[test]
fn one_id_may_serve_two_turns_but_not_one_run() {
    let (calling, results) = (assistant(&json!([call("A")])), user(&json!([result("A")])));
    accepts(&json!([calling, results, calling, results]));
    let both = user(&json!([result("A"), result("A")]));
    rejects(&json!([assistant(&json!([call("A"), call("A")])), both]), &[(0, DuplicateCallId)]);
    rejects(&json!([calling, calling, both]), &[(1, DuplicateCallId)]);
    let third = user(&json!([result("A"), result("A"), result("A")]));
    rejects(&json!([calling, calling, third]), &[(1, DuplicateCallId), (2, DuplicateResult)]);
}
