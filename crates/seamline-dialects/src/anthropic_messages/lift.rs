//! Lifts a body into a conversation that other dialects can render.

use seamline_model::conversation::{
    Family, LiftedBlock, LiftedResult, Media, MediaKind, MediaSource, Reasoning, Says, ToolChoice,
};

use crate::convert::lifting::{Form, Lifting, NOT_CARRIED, Usual, member, opaque, string, text, unread};
use crate::json::{Kind, Value};

/// The settings of the dialect.
pub(super) const FORM: Form = Form {
    wire: super::FORM,
    groups: &["metadata"],
    shared: super::render::SHARED,
    usual: &[
        ("model", Usual::Model),
        ("max_tokens", Usual::MaxTokens),
        ("temperature", Usual::Temperature),
        ("top_p", Usual::TopP),
        ("stop_sequences", Usual::Stop),
        ("stream", Usual::Stream),
    ],
    snake_too: false,
    setting,
};

fn setting(lifting: &mut Lifting, path: &str, value: Value<'_, '_>, pointer: &str) -> bool {
    match path {
        "system" => {
            let blocks = lifting.content(Some(value), pointer, block);
            lifting.conversation.system.extend(blocks);
        }
        "tools" if value.is(Kind::Array) => tools(lifting, value),
        "tool_choice" => choice(lifting, value, pointer),
        _ => return false,
    }
    true
}

fn tools(lifting: &mut Lifting, value: Value<'_, '_>) {
    for (index, tool) in value.elements().enumerate() {
        let pointer = format!("/tools/{index}");
        match string(tool, "type").as_deref() {
            None | Some("custom") => lifting.tool(tool, "input_schema", &pointer),
            Some(kind) => lifting.note_dropped(format!("tool `{kind}`"), pointer, "the provider defines it itself"),
        }
    }
}

fn choice(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    lifting.note_pointer("tool_choice", pointer);
    let choice = match string(value, "type").as_deref() {
        Some("auto") => Some(ToolChoice::Auto),
        Some("any") => Some(ToolChoice::Any),
        Some("none") => Some(ToolChoice::None),
        Some("tool") => string(value, "name").map(ToolChoice::Tool),
        _ => None,
    };
    match &choice {
        Some(_) => lifting.note_unknown(value, &["type", "name", "disable_parallel_tool_use"], pointer),
        None => lifting.note_dropped("setting `tool_choice`", pointer, NOT_CARRIED),
    }
    lifting.conversation.settings.tool_choice = choice;
    if let Some(alone) = lifting.switch(value, "disable_parallel_tool_use", pointer) {
        let pointer = format!("{pointer}/disable_parallel_tool_use");
        lifting.other("parallel_calls", (!alone).to_string(), &pointer);
    }
}

/// Reads a block.
pub(super) fn block(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    if member(value, "type").is_some_and(|kind| kind.says("tool_result")) {
        return result(lifting, value, pointer);
    }
    leaf(lifting, value, pointer)
}

/// Reads a result. A result inside a result is read as a plain block, at any depth.
fn result(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    lifting.note_unknown(value, &["type", "tool_use_id", "content", "is_error"], pointer);
    let id = lifting.field(value, "tool_use_id", pointer).unwrap_or_default();
    let blocks = lifting.content(member(value, "content"), &format!("{pointer}/content"), leaf);
    let failed = lifting.switch(value, "is_error", pointer) == Some(true);
    LiftedBlock::new(Says::Result(Box::new(LiftedResult { id, name: None, blocks, failed })), pointer)
}

/// Reads a block that holds no others.
fn leaf(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let kind = string(value, "type").unwrap_or_default();
    let is_text = |key| member(value, key).is_some_and(|said| said.is(Kind::String));
    let mut field = |key| lifting.field(value, key, pointer);
    let (block, known): (LiftedBlock, &[&str]) = match kind.as_str() {
        "text" if is_text("text") => (text(field("text").unwrap_or_default(), pointer), &["text"]),
        "tool_use" => {
            let (id, name) = (field("id").unwrap_or_default(), field("name").unwrap_or_default());
            (lifting.call(id, name, member(value, "input"), pointer), &["id", "name", "input"])
        }
        "thinking" if is_text("thinking") => {
            let seal = field("signature").filter(|signature| !signature.is_empty());
            let text = field("thinking").unwrap_or_default();
            let reasoning = Reasoning { text, seal, redacted: false, family: Family::Claude };
            (LiftedBlock::new(Says::Reasoning(Box::new(reasoning)), pointer), &["thinking", "signature"])
        }
        "redacted_thinking" if is_text("data") => {
            let reasoning =
                Reasoning { text: String::new(), seal: field("data"), redacted: true, family: Family::Claude };
            (LiftedBlock::new(Says::Reasoning(Box::new(reasoning)), pointer), &["data"])
        }
        // A summary of what was said before.
        "compaction" if is_text("content") => (text(field("content").unwrap_or_default(), pointer), &["content"]),
        "image" | "document" => match media(lifting, value, &kind, pointer) {
            Some(Says::Text(said)) => (text(said, pointer), &["source"]),
            Some(says) => (LiftedBlock::new(says, pointer), &["source", "title"]),
            None => return opaque(value, &kind, true, pointer),
        },
        "text" | "thinking" | "redacted_thinking" | "compaction" => return unread(value, pointer),
        other => return opaque(value, other, true, pointer),
    };
    lifting.note_unknown(value, &[&["type"], known].concat(), pointer);
    block
}

fn media(lifting: &mut Lifting, value: Value<'_, '_>, kind: &str, pointer: &str) -> Option<Says> {
    let kind = if kind == "image" { MediaKind::Image } else { MediaKind::Document };
    let source = member(value, "source")?;
    let (place, key) = match string(source, "type")?.as_str() {
        "base64" => (MediaSource::Data(string(source, "data")?), "data"),
        "url" => (MediaSource::Url(string(source, "url")?), "url"),
        "file" => (MediaSource::File(Family::Claude, string(source, "file_id")?), "file_id"),
        // A document that is text says what text says.
        "text" => {
            let said = string(source, "data")?;
            lifting.note_unknown(source, &["type", "media_type", "data"], &format!("{pointer}/source"));
            return Some(Says::Text(said));
        }
        _ => return None,
    };
    lifting.note_unknown(source, &["type", "media_type", key], &format!("{pointer}/source"));
    let (mime, name) = (string(source, "media_type"), lifting.field(value, "title", pointer));
    Some(Says::Media(Box::new(Media { mime, name, ..Media::new(kind, place) })))
}
