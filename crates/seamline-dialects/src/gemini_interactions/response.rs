//! Writes an assembled message as a response that does not stream, and as steps of a request.

use seamline_model::{Assembled, AssembledBlock, Content, Piece};

use super::step::{MODEL_OUTPUT, THOUGHT};
use super::stream::{is_step, step_of};
use super::wire::{CALL_ID, INPUT};
use crate::json::{Document, Value, quoted};
use crate::response_text::{ObjectText, input_text, list_text, set_id, usage_text};

/// Writes the message as an interaction with its steps.
pub(super) fn write(message: &Assembled) -> String {
    let mut response = ObjectText::default();
    response.set_all(&message.members);
    response.set_default("object", "\"interaction\"");
    response.set("steps", list_text(&steps(message)));
    if let Some(usage) = usage_text(message) {
        response.set("usage", usage);
    }
    response.write()
}

/// Writes the steps of a request, unless they say nothing but thoughts.
pub(super) fn messages(message: &Assembled) -> Vec<String> {
    let steps = steps(message);
    let is = |step: &str, kind: &str| ObjectText::of(step).get("type") == Some(quoted(kind).as_str());
    let is_empty = |step: &&String| is(step, MODEL_OUTPUT) && !says_something(step);
    let said: Vec<String> = steps.iter().filter(|step| !is_empty(step)).cloned().collect();
    if said.iter().all(|step| is(step, THOUGHT)) { Vec::new() } else { said }
}

/// Whether a step has content other than empty text.
fn says_something(step: &str) -> bool {
    let Ok(document) = Document::read(step) else { return false };
    let content = document.root().object().and_then(|step| step.get("content"));
    let is_empty = |part: Value<'_, '_>| {
        part.object().is_some_and(|part| {
            part.get("type").is_some_and(|kind| kind.says("text")) && part.get("text").is_none_or(|text| text.says(""))
        })
    };
    content.into_iter().flat_map(Value::elements).any(|part| !is_empty(part))
}

fn steps(message: &Assembled) -> Vec<String> {
    message.blocks.chunk_by(|one, other| step_of(one.place) == step_of(other.place)).map(step).collect()
}

/// Writes a step with its contents, which are the blocks after it.
fn step(blocks: &[AssembledBlock]) -> String {
    let own = blocks.iter().find(|block| is_step(block.place));
    if let Some((own, whole)) = own.and_then(|own| Some((own, own.whole.as_ref()?))) {
        return finished(own, whole);
    }
    let mut out = ObjectText::of(own.map_or("", |own| &own.base));
    if let Some(own) = own {
        set_own(&mut out, own);
    }
    let contents: Vec<_> = blocks.iter().filter(|block| !is_step(block.place)).map(content).collect();
    if !contents.is_empty() {
        out.set_default("type", &quoted(MODEL_OUTPUT));
        out.set("content", list_text(&contents));
    }
    out.write()
}

/// Writes a step as the provider completed it. Only a missing id is added.
fn finished(block: &AssembledBlock, whole: &str) -> String {
    let mut step = ObjectText::of(whole);
    let has_new_id = block.call().is_some_and(|call| !call.id.is_empty() && set_id(&mut step, CALL_ID, call));
    if has_new_id { step.write() } else { whole.to_owned() }
}

/// Writes what came of a step beside its contents.
fn set_own(out: &mut ObjectText, own: &AssembledBlock) {
    match &own.content {
        Content::Call(call) => {
            out.set_all(&own.members);
            if !call.id.is_empty() {
                out.set(CALL_ID, quoted(&call.id));
            }
            out.set("name", quoted(&call.name));
            out.set(INPUT, input_text(call));
        }
        Content::Text(text) if own.piece == Piece::Reasoning => {
            let mut summary = Vec::new();
            if !text.text.is_empty() {
                summary.push(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&text.text)));
            }
            for (name, json) in &own.members {
                match name.as_str() {
                    "summary" => summary.extend(elements(json)),
                    name => out.set(name, json.as_str()),
                }
            }
            if !summary.is_empty() {
                out.set("summary", list_text(&summary));
            }
            if let Some(signature) = &text.signature {
                out.set("signature", quoted(signature));
            }
        }
        Content::Text(_) | Content::Opaque => out.set_all(&own.members),
    }
}

/// The elements of a list, as JSON.
fn elements(list: &str) -> Vec<String> {
    let document = Document::read(list);
    let elements = document.iter().flat_map(|document| document.root().elements().collect::<Vec<_>>());
    elements.map(|element| element.raw().to_owned()).collect()
}

fn content(block: &AssembledBlock) -> String {
    let mut out = ObjectText::of(&block.base);
    if let Some(text) = block.text() {
        out.set("text", quoted(text));
    }
    out.set_all(&block.members);
    out.write()
}
