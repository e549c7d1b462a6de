//! Lifts a body into a conversation that other dialects can render.

use seamline_model::conversation::{
    Family, LiftedBlock, LiftedResult, Media, MediaKind, MediaSource, Reasoning, Says, ToolChoice,
};

use crate::convert::lifting::{Form, Lifting, Usual, compact, member, opaque, string, text, unread};
use crate::convert::mime_of_extension;
use crate::json::{Kind, Value};
use crate::members::is_hollow;

/// The settings of the dialect.
pub(super) const FORM: Form = Form {
    wire: super::FORM,
    groups: &["inferenceConfig", "toolConfig"],
    shared: &[],
    usual: &[
        ("modelId", Usual::Model),
        ("inferenceConfig.maxTokens", Usual::MaxTokens),
        ("inferenceConfig.temperature", Usual::Temperature),
        ("inferenceConfig.topP", Usual::TopP),
        ("inferenceConfig.stopSequences", Usual::Stop),
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
        "toolConfig.tools" if value.is(Kind::Array) => {
            for (index, tool) in value.elements().enumerate() {
                tool_definition(lifting, tool, &format!("{pointer}/{index}"));
            }
        }
        "toolConfig.toolChoice" => lifting.tool_choice(choice(value), pointer),
        _ => return false,
    }
    true
}

fn tool_definition(lifting: &mut Lifting, tool: Value<'_, '_>, pointer: &str) {
    let Some(spec) = member(tool, "toolSpec") else {
        return lifting.note_dropped("tool", pointer, "it is a mark or one of the provider's own");
    };
    lifting.note_unknown(tool, &["toolSpec"], pointer);
    let pointer = format!("{pointer}/toolSpec");
    let count = lifting.conversation.settings.tools.len();
    lifting.tool(spec, "inputSchema", &pointer);
    let given = member(spec, "inputSchema");
    let schema = given.and_then(|schema| member(schema, "json"));
    if given.is_some() && schema.is_none() {
        lifting.note_dropped(
            "schema of a tool",
            format!("{pointer}/inputSchema"),
            "it is not an object with the member `json`",
        );
    }
    if let Some(tool) = lifting.conversation.settings.tools.get_mut(count) {
        tool.schema = schema.map(|schema| compact(schema.raw()));
    }
}

fn choice(value: Value<'_, '_>) -> Option<ToolChoice> {
    let (key, inner) = value.members().next()?;
    match key.name().as_ref() {
        "any" if is_hollow(inner) => Some(ToolChoice::Any),
        "auto" if is_hollow(inner) => Some(ToolChoice::Auto),
        "tool" => string(member(value, "tool")?, "name").map(ToolChoice::Tool),
        _ => None,
    }
}

/// Reads a block.
pub(super) fn block(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    match member(value, "toolResult") {
        Some(result) if result.is(Kind::Object) && member(result, "type").is_none() => {
            lifting.note_unknown(value, &["toolResult"], pointer);
            self::result(lifting, result, pointer)
        }
        _ => leaf(lifting, value, pointer),
    }
}

/// Reads a result. A result inside a result is read as a plain block, at any depth.
fn result(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let inner = format!("{pointer}/toolResult");
    lifting.note_unknown(value, &["toolUseId", "content", "status"], &inner);
    let id = lifting.field(value, "toolUseId", &inner).unwrap_or_default();
    let blocks = lifting.content(member(value, "content"), &format!("{inner}/content"), leaf);
    let failed = string(value, "status").as_deref() == Some("error");
    LiftedBlock::new(Says::Result(Box::new(LiftedResult { id, name: None, blocks, failed })), pointer)
}

/// A block that holds no others: an object with one member that names its kind.
fn leaf(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let Some((key, inner)) = value.members().find(|(_, inner)| !inner.is(Kind::Null)) else {
        return opaque(value, "block", false, pointer);
    };
    let kind = key.name();
    let inner = member(value, &kind).unwrap_or(inner);
    let within = format!("{pointer}/{kind}");
    let block = match &*kind {
        "text" if inner.is(Kind::String) => text(inner.str().unwrap_or_default(), pointer),
        // Text of another dialect, whose blocks have types.
        "type" if value.members().count() == 2 && inner.str().is_some_and(|kind| kind.ends_with("text")) => {
            return string(value, "text").map_or_else(|| unread(value, pointer), |said| text(said, pointer));
        }
        "json" => text(compact(inner.raw()), pointer),
        "toolUse" if inner.is(Kind::Object) && member(inner, "type").is_none() => {
            lifting.note_unknown(inner, &["toolUseId", "name", "input"], &within);
            let id = lifting.field(inner, "toolUseId", &within).unwrap_or_default();
            let name = lifting.field(inner, "name", &within).unwrap_or_default();
            lifting.call(id, name, member(inner, "input"), pointer)
        }
        "reasoningContent" => match reasoning(lifting, inner, &within) {
            Some(reasoning) => LiftedBlock::new(Says::Reasoning(Box::new(reasoning)), pointer),
            None => return unread(value, pointer),
        },
        "image" | "document" | "video" | "audio" => match media(lifting, inner, &kind, &within) {
            Some(says) => LiftedBlock::new(says, pointer),
            None => return opaque(value, &kind, true, pointer),
        },
        "text" => return unread(value, pointer),
        "cachePoint" => return opaque(value, &kind, false, pointer),
        other => return opaque(value, other, true, pointer),
    };
    lifting.note_unknown(value, &[&*kind], pointer);
    block
}

fn reasoning(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Option<Reasoning> {
    if let Some(data) = string(value, "redactedContent") {
        lifting.note_unknown(value, &["redactedContent"], pointer);
        return Some(Reasoning { text: String::new(), seal: Some(data), redacted: true, family: Family::Claude });
    }
    let words = member(value, "reasoningText")?;
    let text = string(words, "text")?;
    let within = format!("{pointer}/reasoningText");
    lifting.note_unknown(value, &["reasoningText"], pointer);
    lifting.note_unknown(words, &["text", "signature"], &within);
    let seal = lifting.field(words, "signature", &within);
    // Only Claude signs what it thinks here.
    let family = if seal.is_some() { Family::Claude } else { Family::Plain };
    Some(Reasoning { text, seal, redacted: false, family })
}

fn media(lifting: &mut Lifting, value: Value<'_, '_>, kind: &str, pointer: &str) -> Option<Says> {
    let kind = match kind {
        "image" => MediaKind::Image,
        "video" => MediaKind::Video,
        "audio" => MediaKind::Audio,
        _ => MediaKind::Document,
    };
    let format = string(value, "format");
    let mime = format.as_deref().and_then(mime_of_extension).map(str::to_owned);
    let source = member(value, "source")?;
    let place = member(source, "s3Location").and_then(|place| string(place, "uri"));
    // A document that is text says what text says.
    let words = string(source, "text").map(Says::Text);
    let (says, known): (_, &[&str]) = match (string(source, "bytes"), place) {
        (Some(data), _) => {
            (Says::Media(Box::new(Media { mime, ..Media::new(kind, MediaSource::Data(data)) })), &["bytes"])
        }
        (None, Some(uri)) => {
            (Says::Media(Box::new(Media { mime, ..Media::new(kind, MediaSource::Url(uri)) })), &["s3Location"])
        }
        (None, None) => (words?, &["text"]),
    };
    let within = format!("{pointer}/source");
    lifting.note_unknown(source, known, &within);
    if let Some(place) = member(source, "s3Location") {
        lifting.note_unknown(place, &["uri"], &format!("{within}/s3Location"));
    }
    let Says::Media(media) = says else {
        lifting.note_unknown(value, &["format", "source"], pointer);
        return Some(says);
    };
    lifting.note_unknown(value, &["format", "name", "source"], pointer);
    let name = lifting.field(value, "name", pointer);
    Some(Says::Media(Box::new(Media { name, ..*media })))
}
