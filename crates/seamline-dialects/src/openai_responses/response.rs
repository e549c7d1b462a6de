//! Writes an assembled message as a response that does not stream, and as items of a request.

use std::collections::HashSet;

use seamline_model::{Assembled, AssembledBlock, AssembledCall, Content, Piece};

use super::stream::{PartRow, input_of, item_of, row_of};
use crate::json::quoted;
use crate::response_text::{ObjectText, list_text, set_id, usage_text};

/// Writes the message as a response with its output.
pub(super) fn write(message: &Assembled) -> String {
    let mut response = ObjectText::default();
    response.set_all(&message.members);
    response.set_default("object", "\"response\"");
    response.set("output", list_text(&items(message)));
    response.set("usage", usage_text(message).unwrap_or("null".to_owned()));
    response.write()
}

/// Writes the items of a request, without trailing reasoning, which the provider refuses, and without calls that the
/// provider answered itself and lists no result for, because a client has to answer the calls that it sends.
pub(super) fn messages(message: &Assembled) -> Vec<String> {
    let mut items = kept_items(message);
    let is_reasoning = |item: &String| ObjectText::of(item).get("type") == Some("\"reasoning\"");
    while items.pop_if(|item| is_reasoning(item)).is_some() {}
    items.into_iter().map(with_role).collect()
}

fn kept_items(message: &Assembled) -> Vec<String> {
    let items = items(message);
    let pair = |item: &str| ObjectText::of(item).get("call_id").map(str::to_owned);
    let is_result = |item: &&String| ObjectText::of(item).get("type").is_some_and(|kind| kind.ends_with("_output\""));
    let results: HashSet<String> = items.iter().filter(is_result).filter_map(|item| pair(item)).collect();
    let is_open = |item: &str| {
        let is_call = matches!(ObjectText::of(item).get("type"), Some("\"function_call\"" | "\"custom_tool_call\""));
        is_call && pair(item).is_none_or(|id| !results.contains(&id))
    };
    let is_served = |blocks: &[AssembledBlock]| blocks.iter().any(|block| block.piece == Piece::ServerCall);
    let blocks = message.blocks.chunk_by(|one, other| item_of(one.place) == item_of(other.place));
    let kept = blocks.zip(&items).filter(|(blocks, item)| !(is_served(blocks) && is_open(item)));
    kept.map(|(_, item)| item.clone()).collect()
}

/// Adds the role to a message. Some servers leave it out of their responses.
fn with_role(item: String) -> String {
    let mut members = ObjectText::of(&item);
    if members.get("type") != Some("\"message\"") || members.get("role").is_some() {
        return item;
    }
    members.set("role", "\"assistant\"");
    members.write()
}

fn items(message: &Assembled) -> Vec<String> {
    message.blocks.chunk_by(|one, other| item_of(one.place) == item_of(other.place)).map(item).collect()
}

/// Writes an item with its parts, which are the blocks after it.
fn item(blocks: &[AssembledBlock]) -> String {
    let own = blocks.iter().find(|block| row_of(block.place).is_none());
    if let Some((own, whole)) = own.and_then(|own| Some((own, own.whole.as_ref()?))) {
        return finished(own, whole);
    }
    let mut out = ObjectText::of(own.map_or("", |own| &own.base));
    out.set_all(own.map_or(&[], |own| &own.members));
    for (row, name) in [(PartRow::Summary, "summary"), (PartRow::Content, "content")] {
        let parts: Vec<_> = blocks.iter().filter(|block| row_of(block.place) == Some(row)).map(part).collect();
        if !parts.is_empty() {
            out.set(name, list_text(&parts));
        }
    }
    if let Some(Content::Call(call)) = own.map(|own| &own.content) {
        set_call(&mut out, call);
    }
    out.write()
}

/// Writes an item as the provider completed it. Only a missing id is added.
fn finished(block: &AssembledBlock, whole: &str) -> String {
    let mut item = ObjectText::of(whole);
    let has_new_id = block.call().is_some_and(|call| !call.id.is_empty() && set_id(&mut item, "call_id", call));
    if has_new_id { item.write() } else { whole.to_owned() }
}

fn set_call(out: &mut ObjectText, call: &AssembledCall) {
    let kind = out.get("type").unwrap_or_default().trim_matches('"').to_owned();
    match input_of(&kind) {
        // The input of these types stays as it began.
        "" | "action" | "operation" => {}
        name => out.set(name, quoted(&call.arguments)),
    }
    if matches!(kind.as_str(), "function_call" | "custom_tool_call") {
        out.set("name", quoted(&call.name));
        if !call.id.is_empty() {
            out.set("call_id", quoted(&call.id));
        }
    }
}

fn part(block: &AssembledBlock) -> String {
    if let Some(whole) = &block.whole {
        return whole.clone();
    }
    let mut out = ObjectText::of(&block.base);
    if let Some(text) = block.text() {
        out.set(if block.piece == Piece::Refusal { "refusal" } else { "text" }, quoted(text));
    }
    out.set_all(&block.members);
    out.write()
}
