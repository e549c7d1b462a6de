//! Tests of the shape of single messages.

use serde_json::json;

use super::{accepts, assistant, call, cycle, rejects, result, text, user};
use crate::strict::ViolationKind::{
    BadCallId, BadContent, BadInput, BadResultContent, BadResultId, BadToolName, CallInWrongRole, EmptyContent,
    EmptyText, Malformed, OrphanResult, ResultInWrongRole, UnansweredCall, UnknownRole,
};

#[test]
fn a_plain_conversation_is_accepted() {
    accepts(&json!([user(&json!("hi")), assistant(&json!("hello")), user(&json!([text("bye")]))]));
}

#[test]
fn any_role_may_come_first_and_repeat_and_end() {
    accepts(&json!([assistant(&json!("a")), assistant(&json!("b")), user(&json!("c")), user(&json!("d"))]));
    accepts(&json!([user(&json!("a")), {"role": "system", "content": "b"}, assistant(&json!("c"))]));
}

#[test]
fn calls_and_results_have_their_roles() {
    rejects(
        &json!([user(&json!([call("A")])), user(&json!([result("A")]))]),
        &[(0, CallInWrongRole), (1, OrphanResult)],
    );
    let messages = json!([assistant(&json!([call("A")])), assistant(&json!([result("A")]))]);
    rejects(&messages, &[(0, UnansweredCall), (1, ResultInWrongRole)]);
    rejects(&json!([{"role": "system", "content": [result("A")]}]), &[(0, ResultInWrongRole)]);
    rejects(&json!([{"role": "system", "content": [call("A")]}]), &[(0, CallInWrongRole)]);
}

#[test]
fn ids_have_an_alphabet_in_calls_and_results() {
    accepts(&cycle(&call("aZ09_-"), &result("aZ09_-")));
    accepts(&cycle(&call(&"x".repeat(300)), &result(&"x".repeat(300))));
    for id in ["", "functions.sh:0", "a|b", "é"] {
        rejects(&cycle(&call(id), &result(id)), &[(1, BadCallId), (2, BadResultId)]);
    }
}

#[test]
fn absent_ids_are_rejected() {
    let nameless = json!({"type": "tool_use", "name": "sh", "input": {}});
    rejects(&json!([assistant(&json!([nameless]))]), &[(0, BadCallId)]);
    let unaddressed = json!({"type": "tool_result", "content": "out"});
    rejects(&cycle(&call("A"), &unaddressed), &[(1, UnansweredCall), (2, BadResultId)]);
    rejects(
        &cycle(&call("A"), &json!({"type": "tool_result", "tool_use_id": 7})),
        &[(1, UnansweredCall), (2, BadResultId)],
    );
}

#[test]
fn names_have_an_alphabet_and_a_length() {
    let named = |name: &str| cycle(&json!({"type": "tool_use", "id": "A", "name": name, "input": {}}), &result("A"));
    accepts(&named(&"n".repeat(128)));
    for name in ["", "a b", "a.b", &"n".repeat(129)] {
        rejects(&named(name), &[(1, BadToolName)]);
    }
}

#[test]
fn input_is_an_object() {
    for input in [json!("{}"), json!(null), json!([]), json!(7)] {
        let call = json!({"type": "tool_use", "id": "A", "name": "sh", "input": input});
        rejects(&cycle(&call, &result("A")), &[(1, BadInput)]);
    }
    rejects(&cycle(&json!({"type": "tool_use", "id": "A", "name": "sh"}), &result("A")), &[(1, BadInput)]);
}

#[test]
fn text_blocks_are_not_blank() {
    for blank in ["", " ", "\n\t "] {
        rejects(&json!([user(&json!([text(blank), text("hi")]))]), &[(0, EmptyText)]);
        rejects(&json!([user(&json!("hi")), assistant(&json!([text(blank)]))]), &[(1, EmptyText)]);
        let result = json!({"type": "tool_result", "tool_use_id": "A", "content": [text("out"), text(blank)]});
        rejects(&cycle(&call("A"), &result), &[(2, EmptyText)]);
    }
    rejects(&json!([user(&json!([{"type": "text"}]))]), &[(0, Malformed)]);
}

#[test]
fn only_a_final_assistant_message_may_be_empty() {
    for empty in [json!(""), json!(" \n"), json!([])] {
        accepts(&json!([user(&json!("hi")), assistant(&empty)]));
        rejects(&json!([user(&json!("hi")), assistant(&empty), user(&json!("go"))]), &[(1, EmptyContent)]);
        rejects(&json!([user(&empty)]), &[(0, EmptyContent)]);
    }
}

#[test]
fn a_result_may_be_empty_but_not_of_another_type() {
    accepts(&cycle(&call("A"), &json!({"type": "tool_result", "tool_use_id": "A"})));
    for content in [json!(""), json!([]), json!([{"type": "image", "source": {}}])] {
        accepts(&cycle(&call("A"), &json!({"type": "tool_result", "tool_use_id": "A", "content": content})));
    }
    for content in [json!(null), json!({}), json!(7)] {
        let result = json!({"type": "tool_result", "tool_use_id": "A", "content": content});
        rejects(&cycle(&call("A"), &result), &[(2, BadResultContent)]);
    }
}

#[test]
fn a_value_that_is_not_a_message_is_rejected() {
    rejects(&json!(["hi"]), &[(0, Malformed)]);
    rejects(&json!([user(&json!(["hi"]))]), &[(0, Malformed)]);
    rejects(&json!([{"role": "tool", "content": "hi"}]), &[(0, UnknownRole)]);
    rejects(&json!([{"content": "hi"}]), &[(0, UnknownRole)]);
    rejects(&json!([{"role": "user"}]), &[(0, BadContent)]);
    rejects(&json!([user(&json!(null))]), &[(0, BadContent)]);
}

#[test]
fn unknown_blocks_are_accepted() {
    accepts(&json!([user(&json!([{"type": "container_upload"}])), assistant(&json!([{"type": "compaction"}]))]));
}
