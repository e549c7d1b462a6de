//! Each message by itself.

use serde_json::{Value, json};

use super::{accepts, assistant, call, calling, rejects, result, user};
use crate::strict::ViolationKind::{
    BadCallId, BadCallList, BadContent, BadInput, BadResultContent, BadResultId, BadToolName, CallInWrongRole,
    EmptyCallList, Malformed, OrphanResult, UnansweredCall, UnknownRole,
};

#[test]
fn a_plain_conversation_is_accepted_in_any_order_of_roles() {
    accepts(&json!([{"role": "system", "content": "be"}, user("hi"), assistant("hello")]));
    accepts(&json!([assistant("a"), assistant("b"), user("c"), user("d"), {"role": "developer", "content": "e"}]));
}

#[test]
fn ids_have_a_length_and_no_alphabet() {
    let legal = format!("functions.sh:0|{}", "é".repeat(25));
    accepts(&json!([calling(&json!([call(&legal)])), result(&legal)]));
    for id in ["", &"x".repeat(41)] {
        rejects(&json!([calling(&json!([call(id)])), result(id)]), &[(0, BadCallId), (1, BadResultId)]);
    }
}

#[test]
fn absent_ids_are_rejected() {
    let nameless = json!({"type": "function", "function": {"name": "sh", "arguments": "{}"}});
    rejects(&json!([calling(&json!([nameless]))]), &[(0, BadCallId)]);
    let one = calling(&json!([call("A")]));
    for result in
        [json!({"role": "tool", "content": "out"}), json!({"role": "tool", "tool_call_id": 7, "content": "out"})]
    {
        rejects(&json!([one, result]), &[(0, UnansweredCall), (1, BadResultId)]);
    }
}

#[test]
fn names_have_an_alphabet_and_a_length() {
    let named = |name: &str| {
        let call = json!({"id": "A", "type": "function", "function": {"name": name, "arguments": "{}"}});
        json!([calling(&json!([call])), result("A")])
    };
    accepts(&named(&"n".repeat(64)));
    for name in ["", "a b", "a.b", &"n".repeat(65)] {
        rejects(&named(name), &[(0, BadToolName)]);
    }
}

#[test]
fn arguments_are_a_string_of_any_kind() {
    let given = |arguments: &Value| {
        let call = json!({"id": "A", "type": "function", "function": {"name": "sh", "arguments": arguments}});
        json!([calling(&json!([call])), result("A")])
    };
    accepts(&given(&json!("")));
    accepts(&given(&json!("{\"cut")));
    for arguments in [json!({}), json!(null), json!([]), json!(7)] {
        rejects(&given(&arguments), &[(0, BadInput)]);
    }
}

#[test]
fn a_custom_call_has_a_name_and_a_string() {
    let custom =
        |custom: &Value| json!([calling(&json!([{"id": "A", "type": "custom", "custom": custom}])), result("A")]);
    accepts(&custom(&json!({"name": "sh", "input": "ls"})));
    rejects(&custom(&json!({"name": "sh", "input": {}})), &[(0, BadInput)]);
    rejects(&custom(&json!({"input": "ls"})), &[(0, BadToolName)]);
}

#[test]
fn a_list_of_calls_is_absent_null_or_not_empty() {
    accepts(&json!([{"role": "assistant", "content": "hi", "tool_calls": null}]));
    rejects(&json!([{"role": "assistant", "content": "hi", "tool_calls": []}]), &[(0, EmptyCallList)]);
    rejects(&json!([{"role": "assistant", "content": "hi", "tool_calls": {}}]), &[(0, BadCallList)]);
}

#[test]
fn only_the_assistant_makes_calls() {
    for role in ["user", "system", "developer"] {
        accepts(&json!([{"role": role, "content": "hi", "tool_calls": null}]));
        accepts(&json!([{"role": role, "content": "hi", "tool_calls": []}]));
        let messages = json!([{"role": role, "content": "hi", "tool_calls": [call("A")]}, result("A")]);
        rejects(&messages, &[(0, CallInWrongRole), (1, OrphanResult)]);
    }
    let answering = json!({"role": "tool", "tool_call_id": "A", "content": "out", "tool_calls": [call("B")]});
    rejects(&json!([calling(&json!([call("A")])), answering]), &[(1, CallInWrongRole)]);
}

#[test]
fn content_may_be_missing_only_beside_calls_or_a_refusal() {
    let without = json!({"role": "assistant", "tool_calls": [call("A")]});
    accepts(&json!([without, result("A")]));
    for key in ["function_call", "refusal", "audio"] {
        accepts(&json!([{"role": "assistant", "content": null, key: "said"}]));
        rejects(&json!([{"role": "assistant", "content": null, key: null}]), &[(0, BadContent)]);
    }
    for role in ["user", "system", "developer", "assistant"] {
        rejects(&json!([{"role": role, "content": null}]), &[(0, BadContent)]);
        rejects(&json!([{"role": role}]), &[(0, BadContent)]);
    }
}

#[test]
fn empty_strings_are_accepted_everywhere() {
    let calling = json!({"role": "assistant", "content": "", "tool_calls": [call("A")]});
    let result = json!({"role": "tool", "tool_call_id": "A", "content": ""});
    accepts(&json!([user(""), assistant(""), calling, result]));
}

#[test]
fn a_result_is_a_string_or_text_parts() {
    let answered = |content: &Value| json!([calling(&json!([call("A")])), {"role": "tool", "tool_call_id": "A", "content": content}]);
    accepts(&answered(&json!([{"type": "text", "text": "out"}, {"type": "text", "text": ""}])));
    for content in [json!(null), json!({}), json!([{"type": "image_url", "image_url": {}}]), json!(["out"])] {
        rejects(&answered(&content), &[(1, BadResultContent)]);
    }
    rejects(&json!([calling(&json!([call("A")])), {"role": "tool", "tool_call_id": "A"}]), &[(1, BadResultContent)]);
}

#[test]
fn a_value_that_is_not_a_message_is_rejected() {
    rejects(&json!(["hi"]), &[(0, Malformed)]);
    rejects(&json!([{"role": "robot", "content": "hi"}]), &[(0, UnknownRole)]);
    rejects(&json!([{"role": "user", "content": 7}]), &[(0, BadContent)]);
    rejects(&json!([{"role": "assistant", "content": 7, "tool_calls": [call("A")]}, result("A")]), &[(0, BadContent)]);
}
