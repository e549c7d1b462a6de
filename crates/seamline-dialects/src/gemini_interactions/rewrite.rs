//! Writes changed steps, and the steps that a repair adds.

use std::borrow::Cow;

use seamline_model::{Field, MessageIndex, Role, Transcript};

use super::wire::{CALL_ID, INPUT, OUTPUT, RESULT_ID};
use super::write;
use crate::beside::{beside, inside};
use crate::fenced::Fenced;
use crate::ids::RESULT_ID_KEYS;
use crate::json::{Document, Json, Kind, Value, list, quoted};
use crate::kept::{as_user, no_message, with_members_as_text};
use crate::reading::part_text;
use crate::results::written;
use crate::rewriting::{REBUILT_INPUT, input_object, set_members, unreadable_text};
use crate::splice::{BlockPlan, MessagePlan, MessageWriter, apply_patches};

/// Writes a new step in which a role says something.
pub(super) fn said<'a>(role: Role, text: &str) -> Json<'a> {
    write::speech(role, vec![write::text(Json::Text(text.to_owned()))])
}

/// Writes a synthetic result.
pub(super) fn made_up<'a>(id: &str, name: &str, text: &str) -> Json<'a> {
    write::result(id, name, Json::Text(text.to_owned()), true)
}

/// Writes a call that was rebuilt from its result.
pub(super) fn rebuilt<'a>(id: &str, name: &str) -> Json<'a> {
    write::call(id, name, Json::Raw(REBUILT_INPUT))
}

fn get<'d, 'a>(step: Value<'d, 'a>, key: &str) -> Option<Value<'d, 'a>> {
    step.object().and_then(|step| step.get(key))
}

/// Writes a call, or any other step that is one block, under its plan.
pub(super) fn call(transcript: &Transcript<'_>, value: Value<'_, '_>, plan: &BlockPlan<'_>) -> String {
    let mut patches = Vec::new();
    let changes = [
        plan.id.map(|id| (CALL_ID, quoted(id))),
        plan.name.map(|name| ("name", quoted(name))),
        plan.input.then(|| (INPUT, input_object(get(value, INPUT)))),
    ];
    patches.extend(set_members(value, changes.into_iter().flatten()));
    apply_patches(transcript, value.span(), &mut patches)
}

/// Writes a result under its plan.
pub(super) fn result(transcript: &Transcript<'_>, value: Value<'_, '_>, plan: &BlockPlan<'_>) -> String {
    let filled = |text: &str| {
        let kept = get(value, OUTPUT).filter(|output| !output.is(Kind::Object)).and_then(unreadable_text);
        quoted(kept.as_deref().unwrap_or(text))
    };
    let changes = [
        plan.id.map(|id| (RESULT_ID, quoted(id))),
        plan.name.map(|name| ("name", quoted(name))),
        plan.fill.map(|text| (OUTPUT, filled(text))),
    ];
    let mut patches = set_members(value, changes.into_iter().flatten());
    apply_patches(transcript, value.span(), &mut patches)
}

/// Writes a result as a step of the user between marks. Its content stays byte for byte.
pub(super) fn demoted<'a>(value: Value<'_, 'a>, heading: &str) -> Json<'a> {
    let known = |key: &str| matches!(key, "type" | "name" | "is_error") || RESULT_ID_KEYS.contains(&key);
    let output = get(value, OUTPUT);
    let shown: Vec<_> = output.into_iter().map(Value::span).collect();
    let fenced = Fenced::of(heading, value).with(&beside(value, &shown, &known));
    let is_content = |part: Value<'_, '_>| get(part, "type").is_some_and(|kind| kind.is(Kind::String));
    let content = match output {
        Some(odd) if !odd.elements().all(is_content) => fenced.text(odd.raw()),
        output => fenced.content(output, write::text),
    };
    write::speech(Role::User, contents(content))
}

/// The contents of a step that holds a list of them or a text.
fn contents(content: Json<'_>) -> Vec<Json<'_>> {
    match content {
        Json::List(contents) => contents,
        text => vec![write::text(text)],
    }
}

/// Writes the readable text of a thought as a step of the model.
pub(super) fn demoted_thought<'a>(value: Value<'_, 'a>, heading: &str) -> Json<'a> {
    let summary = get(value, "summary");
    let texts: Vec<_> = summary.into_iter().flat_map(Value::elements).filter_map(part_text).collect();
    let lines: Vec<Cow<'_, str>> = texts.iter().filter_map(|text| text.str()).collect();
    let shown: Vec<_> = summary.map(inside).into_iter().chain(texts.iter().map(|text| text.span())).collect();
    let beside = beside(value, &shown, &|key| matches!(key, "type" | "id"));
    let content = Fenced::of(heading, value).with(&beside).lines(&lines);
    write::speech(Role::Assistant, vec![write::text(content)])
}

/// Writes a step with content under its plan.
pub(super) fn speech(
    writer: &MessageWriter<'_, '_>,
    transcript: &Transcript<'_>,
    index: MessageIndex,
    plan: &MessagePlan<'_>,
) -> String {
    let span = transcript.message(index).span;
    let source = Document::part(transcript.source, span);
    let value = source.root();
    let text_list = |text: String| list(vec![write::text(Json::Text(text))]);
    if plan.keep_members {
        return with_members_as_text(transcript, index, "content", |text| written(&text_list(text)));
    }
    if let Some(heading) = plan.take_in {
        return taken_in(writer, transcript, value, heading);
    }
    let mut changes: Vec<(&str, String)> = Vec::new();
    changes.extend(plan.role.map(|role| ("type", quoted(write::speech_type(role)))));
    if let Some(text) = plan.fill {
        let kept = get(value, "content").and_then(unreadable_text).unwrap_or_else(|| text.to_owned());
        changes.push(("content", writer.render(&text_list(kept), 1)));
    }
    if !plan.blocks.is_empty() {
        changes.push(("content", writer.render(&list(parts(transcript, index, plan)), 1)));
    }
    apply_patches(transcript, span, &mut set_members(value, changes))
}

/// Writes a value that is not a step as a step of the user.
fn taken_in(
    writer: &MessageWriter<'_, '_>,
    transcript: &Transcript<'_>,
    value: Value<'_, '_>,
    heading: &str,
) -> String {
    let Some(content) = as_user(value, "content", heading, write::text) else {
        return writer.render(&write::speech(Role::User, vec![write::text(no_message(value, heading))]), 0);
    };
    let content = writer.render(&list(contents(content)), 1);
    let values = [("type", quoted(write::speech_type(Role::User))), ("content", content)];
    apply_patches(transcript, value.span(), &mut set_members(value, values))
}

/// Writes the remaining contents of a step.
fn parts<'a>(transcript: &Transcript<'a>, index: MessageIndex, plan: &MessagePlan<'_>) -> Vec<Json<'a>> {
    let mut parts = Vec::new();
    for (block, content) in transcript.blocks_of(index) {
        let raw = transcript.text(content.span);
        match plan.block(block) {
            Some(change) if change.gone => {}
            Some(BlockPlan { demote: Some(heading), .. }) => {
                parts.push(write::text(Fenced::around(heading, raw).text(raw)));
            }
            _ if content.slot().field == Field::Whole => parts.push(write::text(Json::Raw(raw))),
            _ => parts.push(Json::Raw(raw)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use seamline_model::Fence;

    use super::*;

    #[test]
    fn an_output_is_kept_between_marks_whatever_its_form() {
        for (output, content) in [
            (r#""a\u0041""#, r#"[{"type":"text","text":"BEGIN\na\u0041\nEND"}]"#),
            (r#"{"t":20}"#, r#"[{"type":"text","text":"BEGIN\n{\"t\":20}\nEND"}]"#),
            (
                r#"[{"type":"image","uri":"u"}]"#,
                r#"[{"type":"text","text":"BEGIN"},{"type":"image","uri":"u"},{"type":"text","text":"END"}]"#,
            ),
            ("[1]", r#"[{"type":"text","text":"BEGIN\n[1]\nEND"}]"#),
        ] {
            let step = format!(r#"{{"type":"function_result","call_id":"a","result":{output}}}"#);
            let document = Document::read(&step).unwrap();
            let fence = Fence::around("H", &step);
            let content = content.replace("BEGIN", fence.begin()).replace("END", fence.end());
            let expected = format!(r#"{{"type":"user_input","content":{content}}}"#);
            assert_eq!(written(&demoted(document.root(), "H")), expected);
        }
    }

    #[test]
    fn a_rebuilt_call_says_that_it_is_synthetic() {
        let call = written(&rebuilt("a", "read"));
        assert!(call.contains(r#""arguments":{"synthetic":true,"reconstructed":true}"#), "{call}");
    }
}
