//! Server-side calls and their results, inside the assistant's messages.

use serde_json::Value;

use crate::strict::{Violation, ViolationKind, wire};

/// Adds every server result without a call and every server call without a result in a closed turn.
pub(super) fn check(messages: &[Value], violations: &mut Vec<Violation>) {
    let mut index = 0;
    while index < messages.len() {
        // ANT-37: a message with nothing but results does not close the turn.
        let belongs = |message: &&Value| wire::role(message) == "assistant" || is_only_results(message);
        let length = messages[index..].iter().take_while(belongs).count();
        let end = index + length.max(1);
        check_run(messages, index..end, violations);
        index = end;
    }
}

/// ANT-35, ANT-36. A message of another role is a run of its own, in which no server call is legal.
fn check_run(messages: &[Value], run: std::ops::Range<usize>, violations: &mut Vec<Violation>) {
    let end = run.end;
    let mut calls: Vec<ServerCall> = Vec::new();
    for message in run {
        for block in wire::blocks(&messages[message]) {
            match wire::kind(block) {
                // We do not know whether a call of MCP, or of a type that the provider may have added, may stay open, so
                // it is not a violation.
                kind if kind.ends_with("_tool_use") => {
                    let id = wire::string(block, "id").unwrap_or_default();
                    calls.push(ServerCall { message, id, answered: kind != "server_tool_use" });
                }
                kind if is_server_result(kind) && !answer(&mut calls, block) => {
                    violations.push(Violation { message, kind: ViolationKind::OrphanServerResult });
                }
                // A type that the provider may have added.
                kind if kind.ends_with("_tool_result") => {
                    answer(&mut calls, block);
                }
                _ => {}
            }
        }
    }
    // The last turn may continue.
    if end < messages.len() {
        let open = calls.iter().filter(|call| !call.answered);
        let kind = ViolationKind::UnansweredServerCall;
        violations.extend(open.map(|call| Violation { message: call.message, kind }));
    }
}

struct ServerCall<'a> {
    message: usize,
    id: &'a str,
    answered: bool,
}

/// Marks the calls that `result` answers; true if there was one.
fn answer(calls: &mut [ServerCall], result: &Value) -> bool {
    let id = wire::string(result, "tool_use_id");
    let mut found = false;
    for call in calls.iter_mut().filter(|call| Some(call.id) == id) {
        call.answered = true;
        found = true;
    }
    found
}

fn is_only_results(message: &Value) -> bool {
    let blocks = wire::blocks(message);
    wire::role(message) == "user" && !blocks.is_empty() && blocks.iter().all(|block| wire::kind(block) == "tool_result")
}

/// The types of the SDK. A result of another type may be of a tool that the client runs.
fn is_server_result(kind: &str) -> bool {
    matches!(
        kind,
        "advisor_tool_result"
            | "bash_code_execution_tool_result"
            | "code_execution_tool_result"
            | "mcp_tool_result"
            | "text_editor_code_execution_tool_result"
            | "tool_search_tool_result"
            | "web_fetch_tool_result"
            | "web_search_tool_result"
    )
}
