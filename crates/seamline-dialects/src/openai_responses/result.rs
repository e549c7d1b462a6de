//! Results of calls, for who runs the tools.

use std::borrow::Cow;

use super::card;
use super::item::{COMPUTER_RESULT, CUSTOM_RESULT, FUNCTION_RESULT, LOCAL_SHELL_RESULT, PATCH_RESULT, SHELL_RESULT};
use super::wire::PAIR_ID;
use crate::json::{Document, Json, Kind, Value, list, member, object};
use crate::results::{Answering, written};

/// The type of what a computer shows.
const SCREENSHOT: &str = "computer_screenshot";

/// Shown where checks are acknowledged that nobody made.
pub(super) const UNCHECKED: &str =
    "Nobody has looked at its safety checks; they are acknowledged because nothing could be said otherwise.";

/// The items that answer calls, each of the type that its call wants.
pub(super) fn write(answers: &[Answering<'_>]) -> Vec<String> {
    answers.iter().map(|answer| written(&item(answer))).collect()
}

fn item(answer: &Answering<'_>) -> Json<'static> {
    let id = &answer.call.id;
    match answer.call.answered_by {
        SHELL_RESULT => {
            let output = commands(answer.text).unwrap_or_else(|| list(vec![command(answer.text, answer.failed)]));
            shell(id, output)
        }
        PATCH_RESULT => patched(id, answer.text, answer.failed),
        COMPUTER_RESULT => {
            let input = Document::read(&answer.call.input).ok();
            let checks = input.as_ref().and_then(|input| pending_checks(input.root()));
            let checks = checks.map(|checks| Json::Written(checks.raw().to_owned()));
            let note = if answer.made_up && checks.is_some() { UNCHECKED } else { "" };
            computer(id, shown(answer.text).unwrap_or_else(|| screen(&answer.marked_text(), note)), checks)
        }
        // It has no place for a failure but its text, and names its call under `id`.
        LOCAL_SHELL_RESULT => {
            object([member("type", LOCAL_SHELL_RESULT), member("id", id), member("output", answer.marked_text())])
        }
        CUSTOM_RESULT => plain(CUSTOM_RESULT, id, Json::Text(answer.marked_text())),
        _ => plain(FUNCTION_RESULT, id, Json::Text(answer.marked_text())),
    }
}

/// Writes a result that has only an id and an output.
pub(super) fn plain<'a>(kind: &'static str, id: &str, output: Json<'a>) -> Json<'a> {
    object([member("type", kind), member(PAIR_ID, id), ("output", output)])
}

/// What the commands of a shell did.
pub(super) fn shell<'a>(id: &str, commands: Json<'a>) -> Json<'a> {
    object([member("type", SHELL_RESULT), member(PAIR_ID, id), ("output", commands)])
}

/// What a computer shows. Checks that were to be made before are acknowledged, since no other answer is taken
/// (openai-agents-python#843): who runs the computer has seen them, and of what is made up it is said that nobody has.
pub(super) fn computer<'a>(id: &str, output: Json<'a>, checks: Option<Json<'a>>) -> Json<'a> {
    let mut members = vec![member("type", COMPUTER_RESULT), member(PAIR_ID, id), ("output", output)];
    members.extend(checks.map(|checks| ("acknowledged_safety_checks", checks)));
    Json::Object(members)
}

/// The checks that somebody was to make before a computer was used.
pub(super) fn pending_checks<'d, 'a>(call: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let checks = call.object()?.get("pending_safety_checks")?;
    checks.elements().next().map(|_| checks)
}

/// A screen that shows a text where there is none to show, and behind it a note that is no part of what was said.
pub(super) fn screen<'a>(text: &str, note: &str) -> Json<'a> {
    screenshot(&card::drawn(text, note))
}

fn screenshot<'a>(address: &str) -> Json<'a> {
    object([member("type", SCREENSHOT), member("image_url", address)])
}

/// What a computer shows, given as the provider takes it or by its address alone.
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

/// How a patch went.
pub(super) fn patched<'a>(id: &str, text: &str, failed: bool) -> Json<'a> {
    let status = member("status", if failed { "failed" } else { "completed" });
    object([member("type", PATCH_RESULT), member(PAIR_ID, id), status, member("output", text)])
}

/// What one command did that left a text. Of one that failed, or never ran, the text stands where errors do.
pub(super) fn command<'a>(text: &str, failed: bool) -> Json<'a> {
    let (stdout, stderr, code) = if failed { ("", text, "-1") } else { (text, "", "0") };
    let outcome = object([member("type", "exit"), ("exit_code", Json::Written(code.to_owned()))]);
    object([member("stdout", stdout), member("stderr", stderr), ("outcome", outcome)])
}

/// What a shell returned that lists what its commands did.
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

/// What a result says that was lifted to this text, without what a shell puts around it.
pub(super) fn said(text: String) -> String {
    let note = || {
        let document = Document::read(&text).ok()?;
        let command = document.root().object().filter(|_| is_command(document.root()))?;
        let is_silent = command.get("stdout").is_some_and(|stdout| stdout.says(""));
        command.get("stderr").filter(|_| is_silent).and_then(Value::str).map(Cow::into_owned)
    };
    note().unwrap_or(text)
}
