//! Server-side calls.

use serde_json::json;

use super::{accepts, assistant, call, rejects, result, server_call, server_result, text, user};
use crate::strict::ViolationKind::{CallInWrongRole, OrphanServerResult, UnansweredServerCall};

#[test]
fn a_server_pair_inside_the_assistant_message_is_accepted() {
    let pair = assistant(&json!([server_call("S"), server_result("S"), text("found")]));
    accepts(&json!([user(&json!("search")), pair, user(&json!("thanks"))]));
    let apart = [assistant(&json!([server_call("S")])), assistant(&json!([server_result("S")]))];
    accepts(&json!([apart[0], apart[1], user(&json!("thanks"))]));
}

#[test]
fn a_server_result_without_its_call_is_rejected() {
    rejects(&json!([user(&json!("go")), assistant(&json!([server_result("S")]))]), &[(1, OrphanServerResult)]);
    let late = json!([assistant(&json!([server_result("S"), server_call("S"), server_result("S")]))]);
    rejects(&late, &[(0, OrphanServerResult)]);
    rejects(&json!([user(&json!([server_result("S")]))]), &[(0, OrphanServerResult)]);
    let other_turn = json!([
        assistant(&json!([server_call("S"), server_result("S")])),
        user(&json!("more")),
        assistant(&json!([server_result("S")])),
    ]);
    rejects(&other_turn, &[(2, OrphanServerResult)]);
    rejects(&json!([assistant(&json!([{"type": "mcp_tool_result", "tool_use_id": "M"}]))]), &[(0, OrphanServerResult)]);
}

#[test]
fn a_server_call_stays_open_only_while_its_turn_does() {
    let pending = assistant(&json!([server_call("S"), call("A")]));
    accepts(&json!([user(&json!("go")), assistant(&json!([server_call("S")]))]));
    accepts(&json!([pending, user(&json!([result("A")]))]));
    rejects(&json!([pending, user(&json!([result("A"), text("also")]))]), &[(0, UnansweredServerCall)]);
    rejects(&json!([assistant(&json!([server_call("S")])), user(&json!("next"))]), &[(0, UnansweredServerCall)]);
    let closed = json!([pending, user(&json!([result("A")])), assistant(&json!("done")), user(&json!("next"))]);
    rejects(&closed, &[(0, UnansweredServerCall)]);
    let answered = assistant(&json!([server_result("S"), text("done")]));
    accepts(&json!([pending, user(&json!([result("A")])), answered, user(&json!("next"))]));
}

#[test]
fn an_mcp_call_may_stay_open() {
    let call = json!({"type": "mcp_tool_use", "id": "M", "name": "sh", "input": {}});
    accepts(&json!([assistant(&json!([call])), user(&json!("next"))]));
    accepts(&json!([assistant(&json!([call, {"type": "mcp_tool_result", "tool_use_id": "M"}])), user(&json!("next"))]));
}

#[test]
fn a_server_call_outside_an_assistant_message_is_rejected() {
    rejects(&json!([user(&json!([server_call("S")]))]), &[(0, CallInWrongRole)]);
}
