//! Wire to a conversation that other dialects can say.

use seamline_model::conversation::{
    Answer, Block, Conversation, Family, Media, MediaKind, MediaSource, Reasoning, Says, Speaker, ToolChoice,
};

use super::NAME;
use crate::Error;
use crate::convert::lifting::{Lifting, compact, member, number, opaque, string, strings, text};
use crate::convert::mime_of_extension;
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
        let speaker = match string(message, "role").as_deref() {
            Some("assistant") => Speaker::Assistant,
            Some("system") => Speaker::System,
            _ => Speaker::User,
        };
        lifting.strangers(message, &["role", "content"], &format!("{base}/{index}"));
        let blocks = content(&mut lifting, member(message, "content"), &format!("{base}/{index}/content"));
        lifting.push(speaker, blocks);
    }
    Ok(lifting.conversation)
}

fn setting(lifting: &mut Lifting, key: &str, value: Value<'_, '_>) {
    match key {
        "messages" => {}
        "modelId" => lifting.conversation.settings.model = value.str().map(String::from),
        "system" => {
            let blocks = content(lifting, Some(value), "/system");
            lifting.conversation.system.extend(blocks);
        }
        "inferenceConfig" => {
            for (name, value) in value.members() {
                lifting.placed(&format!("/inferenceConfig/{}", name.name()));
                inference(lifting, &name.name(), value);
            }
        }
        "toolConfig" => {
            let tools = member(value, "tools").into_iter().flat_map(Value::elements);
            for (index, tool) in tools.enumerate() {
                tool_definition(lifting, tool, format!("/toolConfig/tools/{index}"));
            }
            lifting.conversation.settings.tool_choice = member(value, "toolChoice").and_then(choice);
        }
        other => lifting.unknown_setting(&format!("/{other}")),
    }
}

fn inference(lifting: &mut Lifting, key: &str, value: Value<'_, '_>) {
    let settings = &mut lifting.conversation.settings;
    match key {
        "maxTokens" => settings.max_tokens = number(value),
        "temperature" => settings.temperature = number(value),
        "topP" => settings.top_p = number(value),
        "stopSequences" => settings.stop = strings(value),
        other => lifting.unknown_setting(&format!("/inferenceConfig/{other}")),
    }
}

fn tool_definition(lifting: &mut Lifting, tool: Value<'_, '_>, pointer: String) {
    let Some(spec) = member(tool, "toolSpec") else {
        return lifting.left("tool", pointer, "it is a mark or one of the provider's own");
    };
    lifting.tool(spec, "", pointer);
    let schema = member(spec, "inputSchema").and_then(|schema| member(schema, "json"));
    if let Some(tool) = lifting.conversation.settings.tools.last_mut() {
        tool.schema = schema.map(|schema| compact(schema.raw()));
    }
}

fn choice(value: Value<'_, '_>) -> Option<ToolChoice> {
    if member(value, "any").is_some() {
        return Some(ToolChoice::Any);
    }
    match member(value, "tool") {
        Some(tool) => string(tool, "name").map(ToolChoice::Tool),
        None => Some(ToolChoice::Auto),
    }
}

fn content(lifting: &mut Lifting, content: Option<Value<'_, '_>>, pointer: &str) -> Vec<Block> {
    let blocks = content.into_iter().flat_map(Value::elements).enumerate();
    blocks.map(|(index, value)| block(lifting, value, &format!("{pointer}/{index}"))).collect()
}

fn block(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Block {
    match member(value, "toolResult") {
        Some(result) if member(result, "type").is_none() => answer(lifting, result, pointer),
        _ => leaf(lifting, value, pointer),
    }
}

/// A result. What is in it is no result again, however deep somebody nested them.
fn answer(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Block {
    let inner = format!("{pointer}/toolResult/content");
    let values = member(value, "content").into_iter().flat_map(Value::elements).enumerate();
    let blocks = values.map(|(index, value)| leaf(lifting, value, &format!("{inner}/{index}"))).collect();
    let failed = string(value, "status").as_deref() == Some("error");
    let id = string(value, "toolUseId").unwrap_or_default();
    Block::new(Says::Result(Answer { id, name: None, blocks, failed }), pointer)
}

/// A block that holds no others: an object with one member that names its kind.
fn leaf(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Block {
    let Some((key, inner)) = value.members().next() else {
        return opaque(value, "block", false, pointer);
    };
    let kind = key.name();
    let field = |key| string(inner, key).unwrap_or_default();
    match &*kind {
        "text" => text(inner.str().unwrap_or_default(), pointer),
        "json" => text(compact(inner.raw()), pointer),
        "toolUse" if member(inner, "type").is_none() => {
            lifting.call(field("toolUseId"), field("name"), member(inner, "input"), pointer)
        }
        "reasoningContent" => Block::new(Says::Reasoning(reasoning(inner)), pointer),
        "image" | "document" | "video" | "audio" => match media(inner, &kind) {
            Some(says) => Block::new(says, pointer),
            None => opaque(value, &kind, true, pointer),
        },
        "cachePoint" => opaque(value, &kind, false, pointer),
        other => opaque(value, other, true, pointer),
    }
}

fn reasoning(value: Value<'_, '_>) -> Reasoning {
    if let Some(data) = string(value, "redactedContent") {
        return Reasoning { text: String::new(), seal: Some(data), redacted: true, family: Family::Claude };
    }
    let words = member(value, "reasoningText");
    let text = words.and_then(|words| string(words, "text")).unwrap_or_default();
    let seal = words.and_then(|words| string(words, "signature"));
    // Only Claude signs what it thinks here.
    let family = if seal.is_some() { Family::Claude } else { Family::Plain };
    Reasoning { text, seal, redacted: false, family }
}

fn media(value: Value<'_, '_>, kind: &str) -> Option<Says> {
    let kind = match kind {
        "image" => MediaKind::Image,
        "video" => MediaKind::Video,
        "audio" => MediaKind::Audio,
        _ => MediaKind::Document,
    };
    let mime = string(value, "format").and_then(|format| mime_of_extension(&format)).map(str::to_owned);
    let source = member(value, "source")?;
    let place = member(source, "s3Location").and_then(|place| string(place, "uri"));
    let source = match (string(source, "bytes"), place) {
        (Some(data), _) => MediaSource::Data(data),
        (None, Some(uri)) => MediaSource::Url(uri),
        // A document that is text says what text says.
        (None, None) => return string(source, "text").map(Says::Text),
    };
    Some(Says::Media(Media { kind, mime, source, name: string(value, "name") }))
}
