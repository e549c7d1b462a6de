//! Writes an assembled message as a response that does not stream, and as a message of a request.

use seamline_model::{Assembled, AssembledBlock, AssembledCall, Content, Piece, Text};

use super::stream::{CITATIONS, REDACTED};
use crate::json::quoted;
use crate::response_text::{ObjectText, input_text, is_empty_text, list_text, message_of, set_id, usage_text};

/// Members that are assembled. Their streamed values are ignored.
const ASSEMBLED: [&str; 4] = ["role", "output", "stopReason", "usage"];

/// The response of Converse.
pub(super) fn write(message: &Assembled) -> String {
    let role = message.members.iter().find(|(name, _)| name == "role");
    let blocks: Vec<String> = message.blocks.iter().map(block).collect();
    let mut inner = ObjectText::default();
    inner.set("role", role.map_or("\"assistant\"", |(_, json)| json.as_str()));
    inner.set("content", list_text(&blocks));
    let mut response = ObjectText::default();
    response.set("output", within("message", &inner));
    response.set("stopReason", message.stop.as_ref().map_or("null".to_owned(), |(_, word)| quoted(word)));
    if let Some(usage) = usage_text(message) {
        response.set("usage", usage);
    }
    for (name, json) in message.members.iter().filter(|(name, _)| !ASSEMBLED.contains(&name.as_str())) {
        response.set(name, json.as_str());
    }
    response.write()
}

/// Writes the message of a request.
pub(super) fn messages(message: &Assembled) -> Vec<String> {
    let blocks: Vec<_> = message.blocks.iter().filter(|block| !is_empty_text(block)).collect();
    message_of("\"assistant\"", "content", &blocks, block)
}

fn block(block: &AssembledBlock) -> String {
    if let Some(whole) = &block.whole {
        return finished(block, whole);
    }
    match &block.content {
        Content::Text(text) if block.piece == Piece::Reasoning => reasoning(block, text),
        Content::Text(text) => said(block, text),
        Content::Call(call) => written_call(block, call),
        Content::Opaque => opaque(block),
    }
}

/// Writes a text. A text with citations is a block of another type.
fn said(block: &AssembledBlock, text: &Text) -> String {
    let mut said = ObjectText::of(&block.base);
    said.set("text", quoted(&text.text));
    let Some((_, citations)) = block.members.iter().find(|(name, _)| name == CITATIONS) else {
        return said.write();
    };
    let mut cited = ObjectText::default();
    cited.set("content", list_text(&[said.write()]));
    cited.set(CITATIONS, citations.as_str());
    within("citationsContent", &cited)
}

fn reasoning(block: &AssembledBlock, text: &Text) -> String {
    let mut reasoning = ObjectText::default();
    let mut plain = ObjectText::default();
    let redacted = block.members.iter().find(|(name, _)| name == REDACTED);
    if redacted.is_none() || !text.text.is_empty() {
        plain.set("text", quoted(&text.text));
    }
    if let Some(signature) = &text.signature {
        plain.set("signature", quoted(signature));
    }
    if !plain.members().is_empty() {
        reasoning.set("reasoningText", plain.write());
    }
    if let Some((_, redacted)) = redacted {
        reasoning.set(REDACTED, redacted.as_str());
    }
    within("reasoningContent", &reasoning)
}

/// Writes a block as the provider completed it. Only a missing id is added.
fn finished(block: &AssembledBlock, whole: &str) -> String {
    let mut outer = ObjectText::of(whole);
    let mut inner = ObjectText::of(outer.get("toolUse").unwrap_or_default());
    if block.call().is_some_and(|call| set_id(&mut inner, "toolUseId", call)) {
        outer.set("toolUse", inner.write());
        return outer.write();
    }
    whole.to_owned()
}

fn written_call(block: &AssembledBlock, call: &AssembledCall) -> String {
    let mut outer = ObjectText::of(&block.base);
    let mut inner = ObjectText::of(outer.get("toolUse").unwrap_or_default());
    set_id(&mut inner, "toolUseId", call);
    inner.set_default("name", &quoted(&call.name));
    inner.set("input", input_text(call));
    outer.set("toolUse", inner.write());
    outer.write()
}

/// Writes a block whose members go into its only member.
fn opaque(block: &AssembledBlock) -> String {
    let mut outer = ObjectText::of(&block.base);
    if let Some(kind) = outer.members().first().map(|(kind, _)| kind.clone()).filter(|_| !block.members.is_empty()) {
        let mut inner = ObjectText::of(outer.get(&kind).unwrap_or_default());
        inner.set_all(&block.members);
        outer.set(&kind, inner.write());
    }
    outer.write()
}

fn within(name: &str, inner: &ObjectText) -> String {
    let mut outer = ObjectText::default();
    outer.set(name, inner.write());
    outer.write()
}
