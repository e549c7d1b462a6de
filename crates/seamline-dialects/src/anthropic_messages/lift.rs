//! Wire to a conversation that other dialects can say.

use seamline_model::conversation::{
    Answer, Block, Conversation, Family, Media, MediaKind, MediaSource, Reasoning, Says, Speaker, ToolChoice,
};

use super::NAME;
use crate::Error;
use crate::convert::lifting::{Lifting, member, number, opaque, string, strings, text};
use crate::json::{Kind, Value};

/// What a body says.
///
/// # Errors
///
/// When the body is not JSON or not this dialect's envelope.
pub(crate) fn lift(body: &[u8]) -> Result<Conversation, Error> {
    let document = Lifting::document(body)?;
    let (list, base) = Lifting::list(&document, NAME, "messages")?;
    let mut lifting = Lifting::default();
    for (key, value) in document.root().members() {
        if !value.is(Kind::Null) {
            lifting.placed(&format!("/{}", key.name()));
            setting(&mut lifting, &key.name(), value);
        }
    }
    for (index, message) in list.elements().enumerate() {
        let pointer = format!("{base}/{index}");
        let speaker = match string(message, "role").as_deref() {
            Some("assistant") => Speaker::Assistant,
            Some("system") => Speaker::System,
            _ => Speaker::User,
        };
        lifting.strangers(message, &["role", "content"], &pointer);
        let blocks = content(&mut lifting, member(message, "content"), &format!("{pointer}/content"));
        lifting.push(speaker, blocks);
    }
    Ok(lifting.conversation)
}

fn setting(lifting: &mut Lifting, key: &str, value: Value<'_, '_>) {
    let settings = &mut lifting.conversation.settings;
    match key {
        "messages" => {}
        "system" => {
            let blocks = content(lifting, Some(value), "/system");
            lifting.conversation.system.extend(blocks);
        }
        "model" => settings.model = value.str().map(String::from),
        "max_tokens" => settings.max_tokens = number(value),
        "temperature" => settings.temperature = number(value),
        "top_p" => settings.top_p = number(value),
        "stop_sequences" => settings.stop = strings(value),
        "stream" => settings.stream = Some(value.is(Kind::True)),
        "tools" => {
            for (index, tool) in value.elements().enumerate() {
                let pointer = format!("/tools/{index}");
                match string(tool, "type").as_deref() {
                    None | Some("custom") => lifting.tool(tool, "input_schema", pointer),
                    Some(kind) => lifting.left(format!("tool `{kind}`"), pointer, "the provider runs it itself"),
                }
            }
        }
        "tool_choice" => {
            settings.tool_choice = match string(value, "type").as_deref() {
                Some("any") => Some(ToolChoice::Any),
                Some("none") => Some(ToolChoice::None),
                Some("tool") => string(value, "name").map(ToolChoice::Tool),
                _ => Some(ToolChoice::Auto),
            }
        }
        other => lifting.unknown_setting(&format!("/{other}")),
    }
}

/// The blocks of a content, which may be text alone.
fn content(lifting: &mut Lifting, content: Option<Value<'_, '_>>, pointer: &str) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    if let Some(said) = content.str() {
        return vec![text(said, pointer)];
    }
    let blocks = content.elements().enumerate();
    blocks.map(|(index, value)| block(lifting, value, &format!("{pointer}/{index}"))).collect()
}

fn block(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Block {
    if member(value, "type").is_some_and(|kind| kind.says("tool_result")) {
        return result(lifting, value, pointer);
    }
    leaf(lifting, value, pointer)
}

/// A result. What is in it is no result again, however deep somebody nested them.
fn result(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Block {
    lifting.strangers(value, &["type", "tool_use_id", "content", "is_error"], pointer);
    let inner = format!("{pointer}/content");
    let content = member(value, "content");
    let said = content.and_then(Value::str).map(|said| text(said, &inner));
    let values = content.into_iter().flat_map(Value::elements).enumerate();
    let listed = values.map(|(index, value)| leaf(lifting, value, &format!("{inner}/{index}")));
    let blocks = said.into_iter().chain(listed).collect();
    let failed = member(value, "is_error").is_some_and(|flag| flag.is(Kind::True));
    let id = string(value, "tool_use_id").unwrap_or_default();
    Block::new(Says::Result(Answer { id, name: None, blocks, failed }), pointer)
}

/// A block that holds no others.
fn leaf(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Block {
    let kind = string(value, "type").unwrap_or_default();
    let field = |key| string(value, key).unwrap_or_default();
    match kind.as_str() {
        "text" => {
            lifting.strangers(value, &["type", "text"], pointer);
            text(field("text"), pointer)
        }
        "tool_use" => {
            lifting.strangers(value, &["type", "id", "name", "input"], pointer);
            lifting.call(field("id"), field("name"), member(value, "input"), pointer)
        }
        "thinking" => {
            let seal = string(value, "signature").filter(|signature| !signature.is_empty());
            let reasoning = Reasoning { text: field("thinking"), seal, redacted: false, family: Family::Claude };
            Block::new(Says::Reasoning(reasoning), pointer)
        }
        "redacted_thinking" => {
            let seal = string(value, "data");
            let reasoning = Reasoning { text: String::new(), seal, redacted: true, family: Family::Claude };
            Block::new(Says::Reasoning(reasoning), pointer)
        }
        "image" | "document" => match media(value, &kind) {
            Some(says) => {
                lifting.strangers(value, &["type", "source", "title"], pointer);
                Block::new(says, pointer)
            }
            None => opaque(value, &kind, true, pointer),
        },
        // A summary of what was said before.
        "compaction" if member(value, "content").is_some_and(|said| said.is(Kind::String)) => {
            text(field("content"), pointer)
        }
        other => opaque(value, other, true, pointer),
    }
}

fn media(value: Value<'_, '_>, kind: &str) -> Option<Says> {
    let kind = if kind == "image" { MediaKind::Image } else { MediaKind::Document };
    let source = member(value, "source")?;
    let mime = string(source, "media_type");
    let name = string(value, "title");
    let source = match string(source, "type")?.as_str() {
        "base64" => MediaSource::Data(string(source, "data")?),
        "url" => MediaSource::Url(string(source, "url")?),
        "file" => MediaSource::File(string(source, "file_id")?),
        // A document that is text says what text says.
        "text" => return Some(Says::Text(string(source, "data")?)),
        _ => return None,
    };
    Some(Says::Media(Media { kind, mime, source, name }))
}
