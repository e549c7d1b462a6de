//! Writes single steps.

use seamline_model::Role;

use super::step::{FUNCTION_CALL, FUNCTION_RESULT, MODEL_OUTPUT, THOUGHT, USER_INPUT};
use super::wire::{CALL_ID, INPUT, OUTPUT, RESULT_ID};
use crate::json::{Json, list, member, object};
use crate::results::{AnsweredCall, written};

/// Writes a content of text.
pub(super) fn text(text: Json<'_>) -> Json<'_> {
    object([member("type", "text"), ("text", text)])
}

/// The type of a step in which a role speaks. There is none for the system.
pub(super) fn speech_type(role: Role) -> &'static str {
    if role == Role::Assistant { MODEL_OUTPUT } else { USER_INPUT }
}

/// Writes a step in which a role says something.
pub(super) fn speech(role: Role, content: Vec<Json<'_>>) -> Json<'_> {
    object([member("type", speech_type(role)), ("content", list(content))])
}

/// Writes a call.
pub(super) fn call<'a>(id: &str, name: &str, input: Json<'a>) -> Json<'a> {
    object([member("type", FUNCTION_CALL), member(CALL_ID, id), member("name", name), (INPUT, input)])
}

/// Writes a result. The provider refuses one without the name of its tool.
pub(super) fn result<'a>(id: &str, name: &str, output: Json<'a>, failed: bool) -> Json<'a> {
    let mut members = vec![member("type", FUNCTION_RESULT), member(RESULT_ID, id)];
    if !name.is_empty() {
        members.push(member("name", name));
    }
    members.push((OUTPUT, output));
    if failed {
        members.push(("is_error", Json::Bool(true)));
    }
    Json::Object(members)
}

/// Writes a thought with its signature and its readable text, if it has any.
pub(super) fn thought(signature: &str, said: &str) -> Json<'static> {
    let mut members = vec![member("type", THOUGHT), member("signature", signature)];
    if !said.is_empty() {
        members.push(("summary", list(vec![text(Json::Text(said.to_owned()))])));
    }
    Json::Object(members)
}

/// Writes the results of calls, for hosts that run the tools.
pub(super) fn results(calls: &[AnsweredCall<'_>]) -> Vec<String> {
    let step = |answered: &AnsweredCall<'_>| {
        result(&answered.call.id, &answered.call.name, Json::Text(answered.text.to_owned()), answered.failed)
    };
    calls.iter().map(|answered| written(&step(answered))).collect()
}
