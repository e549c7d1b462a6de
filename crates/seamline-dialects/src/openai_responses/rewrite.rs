//! Writes single items, changed and new.

use std::borrow::Cow;

use seamline_model::{Item, MessageIndex, Role, Span, Transcript};

use super::item::{COMPUTER_RESULT, CUSTOM_RESULT, FUNCTION_RESULT, PATCH_RESULT, SHELL_RESULT};
use super::result;
use super::wire::{PAIR_ID, beside_thought, texts};
use crate::beside::beside;
use crate::fenced::Fenced;
use crate::ids::RESULT_ID_KEYS;
use crate::json::{Document, Json, Kind, Value, list, member, object, quoted};
use crate::kept::{rewrite_as_user, with_members_as_text};
use crate::results::written;
use crate::rewriting::{REBUILT_INPUT, cuts, input_text, set_member, unreadable_text};
use crate::splice::{BlockPlan, MessagePlan, MessageWriter, apply_patches};

type Patches = Vec<(Span, String)>;

/// Writes a new message.
pub(super) fn said<'a>(role: Role, text: &str) -> Json<'a> {
    object([member("role", role_name(role)), member("content", text)])
}

/// Writes a synthetic result, of the type that the call demands.
pub(super) fn made_up<'a>(item: Option<&Item>, call: Value<'_, 'a>, id: &str, text: &str) -> Json<'a> {
    let caller = result::caller_of(call).map(|caller| Json::Raw(caller.raw()));
    result::with_caller(unmarked(item, call, id, text), caller)
}

fn unmarked<'a>(item: Option<&Item>, call: Value<'_, 'a>, id: &str, text: &str) -> Json<'a> {
    match item.map_or("", |item| item.of.result_type) {
        COMPUTER_RESULT => {
            let checks = result::pending_checks(call).map(|checks| Json::Raw(checks.raw()));
            let note = if checks.is_some() { result::UNCHECKED } else { "" };
            result::computer(id, result::screen(text, note), checks)
        }
        SHELL_RESULT => result::shell(id, list(vec![result::command(text, true)])),
        PATCH_RESULT => result::patched(id, text, true),
        CUSTOM_RESULT => result::plain(CUSTOM_RESULT, id, Json::Text(text.to_owned())),
        _ => result::plain(FUNCTION_RESULT, id, Json::Text(text.to_owned())),
    }
}

/// Writes a call that was rebuilt from its result.
pub(super) fn rebuilt<'a>(result: Option<&Item>, id: &str, name: &str) -> Json<'a> {
    if result.is_some_and(|result| result.of.shown_result) {
        let action = ("action", object([member("type", "screenshot")]));
        let checks = ("pending_safety_checks", list(Vec::new()));
        let kind = member("type", "computer_call");
        return object([kind, member(PAIR_ID, id), action, checks, member("status", "completed")]);
    }
    let is_custom = result.is_some_and(|result| result.of.result_type == CUSTOM_RESULT);
    written_call(if is_custom { CUSTOM_CALL } else { FUNCTION_CALL }, id, name, REBUILT_INPUT)
}

/// The type of a call of a function, and its member for the input.
pub(super) const FUNCTION_CALL: (&str, &str) = ("function_call", "arguments");

/// The type of a call of a tool that takes any text, and its member for the input.
pub(super) const CUSTOM_CALL: (&str, &str) = ("custom_tool_call", "input");

/// Writes a call of one of these types.
pub(super) fn written_call<'a>(
    (kind, key): (&'static str, &'static str),
    id: &str,
    name: &str,
    input: &str,
) -> Json<'a> {
    object([member("type", kind), member(PAIR_ID, id), member("name", name), member(key, input)])
}

/// Writes a call, or any other item that is one block, under its plan.
pub(super) fn call(
    transcript: &Transcript<'_>,
    value: Value<'_, '_>,
    plan: &BlockPlan<'_>,
    drop_item_id: bool,
) -> String {
    let get = |key| value.object().and_then(|call| call.get(key));
    let mut patches = if drop_item_id { cuts(value, &["id"]) } else { Patches::new() };
    patches.extend(plan.id.and_then(|id| set_member(value, PAIR_ID, &quoted(id))));
    patches.extend(plan.name.and_then(|name| set_member(value, "name", &quoted(name))));
    if plan.input {
        let custom = get("type").is_some_and(|kind| kind.says("custom_tool_call"));
        let key = if custom { "input" } else { "arguments" };
        patches.extend(set_member(value, key, &input_text(get(key))));
    }
    apply_patches(transcript, value.span(), &mut patches)
}

/// Writes a result under its plan.
pub(super) fn result(
    transcript: &Transcript<'_>,
    value: Value<'_, '_>,
    plan: &BlockPlan<'_>,
    drop_item_id: bool,
) -> String {
    let get = |key| value.object().and_then(|result| result.get(key));
    let mut patches = if drop_item_id { cuts(value, &["id"]) } else { Patches::new() };
    if let Some(id) = plan.id {
        let by_id = get("type").is_some_and(|kind| kind.says(super::item::LOCAL_SHELL_RESULT));
        let key = if by_id && get(PAIR_ID).is_none() { "id" } else { PAIR_ID };
        patches.extend(set_member(value, key, &quoted(id)));
    }
    if let Some(text) = plan.fill {
        let output = get("output");
        let json = match get("type").and_then(Value::str).as_deref() {
            Some(SHELL_RESULT) => shell_output(output),
            Some(COMPUTER_RESULT) => screen(output),
            _ => quoted(output.and_then(unreadable_text).as_deref().unwrap_or(text)),
        };
        patches.extend(set_member(value, "output", &json));
    }
    apply_patches(transcript, value.span(), &mut patches)
}

/// Writes the output of a shell as a list of the outputs of its commands. The exit of a command with only a text is not
/// known; without output the list is empty.
fn shell_output(output: Option<Value<'_, '_>>) -> String {
    let said = match output {
        Some(text) if text.is(Kind::String) => text.raw().to_owned(),
        Some(other) if !other.is(Kind::Null) => quoted(other.raw()),
        _ => return "[]".to_owned(),
    };
    let note = quoted(&format!("{} how the command ended was not recorded", seamline_model::MARK));
    format!("[{{\"stdout\":{said},\"stderr\":{note},\"outcome\":{{\"type\":\"exit\",\"exit_code\":-1}}}}]")
}

/// Writes a screenshot of a computer from a result that holds text or nothing.
fn screen(output: Option<Value<'_, '_>>) -> String {
    let said = match output {
        Some(text) if text.is(Kind::String) => text.str().map(Cow::into_owned),
        Some(other) if !other.is(Kind::Null) => Some(other.raw().to_owned()),
        _ => None,
    };
    let shown = said.as_deref().and_then(result::shown);
    let nothing = format!("{} what the computer showed was not recorded", seamline_model::MARK);
    written(&shown.unwrap_or_else(|| result::screen(said.as_deref().unwrap_or(&nothing), "")))
}

/// Writes a result as a message of the user between marks. Its content stays byte for byte.
pub(super) fn demoted<'a>(value: Value<'_, 'a>, heading: &str) -> Json<'a> {
    let known = |key: &str| matches!(key, "type" | "name" | "id" | "status") || RESULT_ID_KEYS.contains(&key);
    let output = value.object().and_then(|result| result.get("output"));
    let shown: Vec<_> = output.into_iter().map(Value::span).collect();
    let fenced = Fenced::of(heading, value).with(&beside(value, &shown, &known));
    let text = |text| text_part(Role::User, text);
    let content = match output {
        Some(screen) if is_screenshot(screen) => list(fenced.blocks([picture(screen)], text)),
        Some(odd) if !odd.elements().all(is_part) => fenced.text(odd.raw()),
        output => fenced.content(output, text),
    };
    object([member("role", "user"), ("content", content)])
}

fn is_screenshot(output: Value<'_, '_>) -> bool {
    let address = output.object().and_then(|output| output.get("image_url").or_else(|| output.get("file_id")));
    address.is_some_and(|address| address.is(Kind::String))
}

/// Writes the screen of a computer as an image part.
fn picture<'a>(screen: Value<'_, 'a>) -> Json<'a> {
    let others = screen.members().filter(|(key, _)| !key.says("type"));
    let others = others.map(|(key, member)| (Cow::Borrowed(key.raw_str()), Json::Raw(member.raw())));
    let kind = (Cow::Borrowed("type"), Json::Text("input_image".to_owned()));
    Json::Members(std::iter::once(kind).chain(others).collect())
}

/// Whether a message may hold this part of an output. The outputs of a shell are not parts.
fn is_part(part: Value<'_, '_>) -> bool {
    part.object().and_then(|part| part.get("type")).is_some_and(|kind| kind.is(Kind::String))
}

/// Writes the readable text of reasoning as a message of the assistant.
pub(super) fn demoted_thought<'a>(value: Value<'_, '_>, heading: &str) -> Json<'a> {
    let of = |key| value.object().and_then(|item| item.get(key)).into_iter().flat_map(texts);
    let lines: Vec<_> = of("summary").chain(of("content")).filter_map(Value::str).collect();
    let content = Fenced::of(heading, value).with(&beside_thought(value)).lines(&lines);
    object([member("role", role_name(Role::Assistant)), ("content", content)])
}

/// Writes a message under its plan.
pub(super) fn message(
    writer: &MessageWriter<'_, '_>,
    transcript: &Transcript<'_>,
    index: MessageIndex,
    plan: &MessagePlan<'_>,
) -> String {
    let span = transcript.message(index).span;
    let source = Document::part(transcript.source, span);
    let value = source.root();
    if plan.keep_members {
        return with_members_as_text(transcript, index, "content", |text| quoted(&text));
    }
    if let Some(heading) = plan.take_in {
        return rewrite_as_user(writer, transcript, value, heading, |text| text_part(Role::User, text));
    }
    let mut patches = if plan.drop_item_id { cuts(value, &["id"]) } else { Patches::new() };
    if let Some(role) = plan.role {
        patches.extend(set_member(value, "role", &quoted(role_name(role))));
    }
    if let Some(text) = plan.fill {
        let kept = value.object().and_then(|item| item.get("content")).and_then(unreadable_text);
        patches.extend(set_member(value, "content", &quoted(kept.as_deref().unwrap_or(text))));
    }
    if !plan.blocks.is_empty() {
        let parts = list(parts(transcript, index, plan));
        patches.extend(set_member(value, "content", &writer.render(&parts, 1)));
    }
    apply_patches(transcript, span, &mut patches)
}

/// Writes the remaining parts of a message.
fn parts<'a>(transcript: &Transcript<'a>, index: MessageIndex, plan: &MessagePlan<'_>) -> Vec<Json<'a>> {
    let role = transcript.message(index).role;
    let mut parts = Vec::new();
    for (block, content) in transcript.blocks_of(index) {
        let raw = transcript.text(content.span);
        match plan.block(block) {
            Some(change) if change.gone => {}
            Some(change) if change.demote.is_some() => {
                let heading = change.demote.unwrap_or_default();
                parts.push(text_part(role, Fenced::around(heading, raw).text(raw)));
            }
            _ if content.slot().field == seamline_model::Field::Whole => parts.push(text_part(role, Json::Raw(raw))),
            _ => parts.push(Json::Raw(raw)),
        }
    }
    parts
}

fn text_part(role: Role, text: Json<'_>) -> Json<'_> {
    let kind = if role == Role::Assistant { "output_text" } else { "input_text" };
    object([member("type", kind), ("text", text)])
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System | Role::Developer | Role::Assistant => role.as_str(),
        Role::User | Role::Tool | Role::Function | Role::Unknown => Role::User.as_str(),
    }
}
