//! Writes an assembled message as a response that does not stream, and as a message of a request.

mod details;

use seamline_model::{Assembled, AssembledBlock, Content, Piece};

use self::details::merged;
use super::stream::{DETAILS, REASONING_MEMBERS, places};
use crate::json::{Document, Value, quoted};
use crate::response_text::{ObjectText, list_text, usage_text};

/// Writes the message as a `chat.completion` with one choice.
pub(super) fn write(message: &Assembled) -> String {
    let mut response = ObjectText::default();
    if let Some((name, id)) = message.members.iter().find(|(name, _)| name == "id") {
        response.set(name, id.as_str());
    }
    response.set("object", quoted("chat.completion"));
    response.set_all(&message.members);
    response.set("choices", list_text(&[choice(message)]));
    if let Some(usage) = usage_text(message) {
        response.set("usage", usage);
    }
    response.write()
}

fn choice(message: &Assembled) -> String {
    let mut choice = ObjectText::default();
    choice.set("index", "0");
    choice.set("message", written(message));
    choice.set("finish_reason", message.stop.as_ref().map_or("null".to_owned(), |(_, word)| quoted(word)));
    if let Some(beside) = at(message, places::CHOICE) {
        choice.set_all(&beside.members);
    }
    choice.write()
}

fn written(message: &Assembled) -> String {
    let mut out = ObjectText::default();
    let members = at(message, places::MESSAGE).map_or(&[][..], |block| &block.members);
    let role = members.iter().find(|(name, _)| name == "role");
    out.set("role", role.map_or_else(|| quoted("assistant"), |(_, role)| role.clone()));
    out.set("content", content(message));
    if let Some(refusal) = at(message, places::REFUSAL).and_then(AssembledBlock::text) {
        out.set("refusal", quoted(refusal));
    }
    for (name, place) in REASONING_MEMBERS.iter().zip(places::REASONING..) {
        if let Some(text) = at(message, place).and_then(AssembledBlock::text).filter(|_| *name != DETAILS) {
            out.set(name, quoted(text));
        }
    }
    out.set_all(members);
    if let Some(details) = out.take(DETAILS) {
        out.set(DETAILS, merged(&details));
    }
    if let Some(audio) = at(message, places::AUDIO) {
        out.set("audio", joined(audio));
    }
    if let Some(call) = at(message, places::LEGACY_CALL) {
        out.set("function_call", legacy_call(call));
    }
    let calls: Vec<_> = message.blocks.iter().filter(|block| block.place >= places::CALLS).map(call).collect();
    if !calls.is_empty() {
        out.set("tool_calls", list_text(&calls));
    }
    out.write()
}

/// Members of a response that no request has.
const ANSWERED_ONLY: [&str; 2] = ["annotations", "images"];

/// Writes the message of a request.
pub(super) fn messages(message: &Assembled) -> Vec<String> {
    let is_said = |block: &AssembledBlock| match &block.content {
        Content::Text(text) => block.piece != Piece::Reasoning && !text.text.is_empty(),
        Content::Call(_) => true,
        Content::Opaque => block.place == places::AUDIO || block.place >= places::CONTENT,
    };
    if !message.blocks.iter().any(is_said) {
        return Vec::new();
    }
    let answered = ObjectText::of(&written(message));
    let mut out = ObjectText::default();
    for (name, json) in answered.members() {
        let is_nothing = json == "null" && name != "content";
        if name == "audio" {
            // A request refers to the audio by its id.
            out.set(name, ObjectText::of(json).only(&["id"]));
        } else if !is_nothing && !ANSWERED_ONLY.contains(&name.as_str()) {
            out.set(name, json.as_str());
        }
    }
    vec![out.write()]
}

/// The block at a place.
fn at(message: &Assembled, place: u32) -> Option<&AssembledBlock> {
    // Blocks are in the order of their places.
    let found = message.blocks.binary_search_by_key(&place, |block| block.place).ok()?;
    message.blocks.get(found)
}

/// Writes the content: a string if it is the only block, or else a list of parts.
fn content(message: &Assembled) -> String {
    let is_content = |block: &&AssembledBlock| (places::CONTENT..places::LEGACY_CALL).contains(&block.place);
    let blocks: Vec<_> = message.blocks.iter().filter(is_content).collect();
    match blocks[..] {
        [] => "null".to_owned(),
        [block] if block.base.is_empty() => quoted(block.text().unwrap_or_default()),
        _ => list_text(&blocks.into_iter().map(part).collect::<Vec<_>>()),
    }
}

fn part(block: &AssembledBlock) -> String {
    let mut part = ObjectText::of(&block.base);
    let text = block.text().unwrap_or_default();
    match block.piece {
        Piece::Text => {
            part.set_default("type", "\"text\"");
            part.set("text", quoted(text));
        }
        Piece::Reasoning => {
            part.set_default("type", "\"thinking\"");
            let is_list = part.get("thinking").is_some_and(|thinking| thinking.starts_with('['));
            let thought = if is_list { list_text(&[text_part(text)]) } else { quoted(text) };
            part.set("thinking", thought);
        }
        _ => {}
    }
    part.set_all(&block.members);
    part.write()
}

fn text_part(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}

fn call(block: &AssembledBlock) -> String {
    let Content::Call(call) = &block.content else {
        return block.base.clone();
    };
    let (kind, input) = if call.free { ("custom", "input") } else { ("function", "arguments") };
    let mut base = ObjectText::of(&block.base);
    let mut function = ObjectText::of(&base.take(kind).unwrap_or_default());
    function.take("index");
    function.set("name", quoted(&call.name));
    function.set(input, quoted(&call.arguments));
    for name in ["index", "id", "type", "name", "arguments"] {
        base.take(name);
    }
    let mut out = ObjectText::default();
    if !call.id.is_empty() {
        out.set("id", quoted(&call.id));
    }
    out.set("type", quoted(kind));
    out.set(kind, function.write());
    out.set_all(base.members());
    out.set_all(&block.members);
    out.write()
}

fn legacy_call(block: &AssembledBlock) -> String {
    let mut out = ObjectText::of(&block.base);
    if let Content::Call(call) = &block.content {
        out.set("name", quoted(&call.name));
        out.set("arguments", quoted(&call.arguments));
    }
    out.write()
}

/// Writes audio, whose pieces are strings in lists.
fn joined(audio: &AssembledBlock) -> String {
    let mut out = ObjectText::default();
    for (name, json) in &audio.members {
        let is_pieces = matches!(name.as_str(), "data" | "transcript") && json.starts_with('[');
        out.set(name, if is_pieces { quoted(&strings(json)) } else { json.clone() });
    }
    out.write()
}

/// Joins the strings of a list.
fn strings(list: &str) -> String {
    let document = Document::read(list);
    document.iter().flat_map(|document| document.root().elements().filter_map(Value::str)).collect()
}
