//! Tool results, for hosts that run the tools.

use std::borrow::Cow;

use super::card;
use super::item::{COMPUTER_RESULT, CUSTOM_RESULT, FUNCTION_RESULT, LOCAL_SHELL_RESULT, PATCH_RESULT, SHELL_RESULT};
use super::wire::PAIR_ID;
use crate::json::{Document, Json, Kind, Value, list, member, object};
use crate::results::{AnsweredCall, written};

/// The type of a screenshot.
const SCREENSHOT: &str = "computer_screenshot";

/// The note on a synthetic screen whose safety checks are acknowledged.
pub(super) const UNCHECKED: &str =
    "Its safety checks were not reviewed. They are acknowledged because the provider accepts nothing else.";

/// Writes the results of calls, each of the type that its call demands.
pub(super) fn write(calls: &[AnsweredCall<'_>]) -> Vec<String> {
    let caller = |answered: &AnsweredCall<'_>| answered.call.caller.clone().map(Json::Written);
    calls.iter().map(|answered| written(&with_caller(item(answered), caller(answered)))).collect()
}

fn item(answered: &AnsweredCall<'_>) -> Json<'static> {
    let id = &answered.call.id;
    match answered.call.answered_by {
        SHELL_RESULT => {
            let output = commands(answered.text).unwrap_or_else(|| list(vec![command(answered.text, answered.failed)]));
            shell(id, output)
        }
        PATCH_RESULT => patched(id, answered.text, answered.failed),
        COMPUTER_RESULT => {
            let input = Document::read(&answered.call.input).ok();
            let checks = input.as_ref().and_then(|input| pending_checks(input.root()));
            let checks = checks.map(|checks| Json::Written(checks.raw().to_owned()));
            let note = if answered.made_up && checks.is_some() { UNCHECKED } else { "" };
            computer(id, shown(answered.text).unwrap_or_else(|| screen(&answered.marked_text(), note)), checks)
        }
        // It has no place for a failure but its text, and names its call under `id`.
        LOCAL_SHELL_RESULT => {
            object([member("type", LOCAL_SHELL_RESULT), member("id", id), member("output", answered.marked_text())])
        }
        CUSTOM_RESULT => plain(CUSTOM_RESULT, id, Json::Text(answered.marked_text())),
        _ => plain(FUNCTION_RESULT, id, Json::Text(answered.marked_text())),
    }
}

/// Finds the program that made a call.
pub(super) fn caller_of<'d, 'a>(call: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let caller = call.object()?.get("caller")?;
    caller.object()?.get("caller_id").map(|_| caller)
}

/// Adds the program that made the call to its result, because the program reads the result.
pub(super) fn with_caller<'a>(result: Json<'a>, caller: Option<Json<'a>>) -> Json<'a> {
    match result {
        Json::Object(mut members) => {
            members.extend(caller.map(|caller| ("caller", caller)));
            Json::Object(members)
        }
        other => other,
    }
}

/// Writes a result that has only an id and an output.
pub(super) fn plain<'a>(kind: &'static str, id: &str, output: Json<'a>) -> Json<'a> {
    object([member("type", kind), member(PAIR_ID, id), ("output", output)])
}

/// Writes the result of a shell.
pub(super) fn shell<'a>(id: &str, commands: Json<'a>) -> Json<'a> {
    object([member("type", SHELL_RESULT), member(PAIR_ID, id), ("output", commands)])
}

/// Writes the result of a computer. Pending safety checks are acknowledged, since the provider accepts nothing else
/// (openai-agents-python#843): the host has seen them, and a synthetic result says that it has not.
pub(super) fn computer<'a>(id: &str, output: Json<'a>, checks: Option<Json<'a>>) -> Json<'a> {
    let mut members = vec![member("type", COMPUTER_RESULT), member(PAIR_ID, id), ("output", output)];
    members.extend(checks.map(|checks| ("acknowledged_safety_checks", checks)));
    Json::Object(members)
}

/// Finds the pending safety checks of a call, if there are any.
pub(super) fn pending_checks<'d, 'a>(call: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let checks = call.object()?.get("pending_safety_checks")?;
    checks.elements().next().map(|_| checks)
}

/// Draws a screen with a text, and a note after it that is not part of the output.
pub(super) fn screen<'a>(text: &str, note: &str) -> Json<'a> {
    screenshot(&card::draw(text, note))
}

fn screenshot<'a>(address: &str) -> Json<'a> {
    object([member("type", SCREENSHOT), member("image_url", address)])
}

/// Reads a screenshot, given in the form of the provider or as a URL.
pub(super) fn shown(text: &str) -> Option<Json<'static>> {
    let text = text.trim();
    let is_address = |text: &str| {
        let starts = ["data:image/", "https://", "http://"];
        starts.iter().any(|start| text.strip_prefix(start).is_some_and(|rest| !rest.is_empty()))
            && !text.ends_with(',')
            && !text.contains(char::is_whitespace)
    };
    if is_address(text) {
        return Some(screenshot(text));
    }
    let document = Document::read(text).ok()?;
    let given = document.root().object()?;
    let word = |name: &str| given.get(name).and_then(Value::str).filter(|word| !word.is_empty());
    let is_picture = match given.get("image_url") {
        Some(_) => word("image_url").is_some_and(|address| is_address(&address)),
        None => word("file_id").is_some(),
    };
    (given.get("type")?.says(SCREENSHOT) && is_picture).then(|| Json::Written(text.to_owned()))
}

/// Writes the result of a patch.
pub(super) fn patched<'a>(id: &str, text: &str, failed: bool) -> Json<'a> {
    let status = member("status", if failed { "failed" } else { "completed" });
    object([member("type", PATCH_RESULT), member(PAIR_ID, id), status, member("output", text)])
}

/// Writes the output of one command. The text of a command that failed or never ran is its error output.
pub(super) fn command<'a>(text: &str, failed: bool) -> Json<'a> {
    let (stdout, stderr, code) = if failed { ("", text, "-1") } else { (text, "", "0") };
    let outcome = object([member("type", "exit"), ("exit_code", Json::Written(code.to_owned()))]);
    object([member("stdout", stdout), member("stderr", stderr), ("outcome", outcome)])
}

/// Reads the output of a shell that already lists the outputs of its commands.
fn commands(text: &str) -> Option<Json<'static>> {
    let document = Document::read(text).ok()?;
    let root = document.root();
    let is_list = root.is(Kind::Array) && root.elements().all(is_command);
    is_list.then(|| Json::Written(root.raw().to_owned()))
}

fn is_command(value: Value<'_, '_>) -> bool {
    let is = |key, kind| value.object().and_then(|command| command.get(key)).is_some_and(|member| member.is(kind));
    is("stdout", Kind::String) && is("stderr", Kind::String) && is("outcome", Kind::Object)
}

/// Takes off what a shell puts around the text of a result.
pub(super) fn said(text: String) -> String {
    let note = || {
        let document = Document::read(&text).ok()?;
        let command = document.root().object().filter(|_| is_command(document.root()))?;
        let is_silent = command.get("stdout").is_some_and(|stdout| stdout.says(""));
        command.get("stderr").filter(|_| is_silent).and_then(Value::str).map(Cow::into_owned)
    };
    note().unwrap_or(text)
}
