//! Lifts a body into a conversation that other dialects can render.

use seamline_model::conversation::{
    Family, LiftedBlock, LiftedResult, Media, MediaKind, MediaSource, Reasoning, ResponseFormat, Says, Speaker,
    ToolChoice,
};

use crate::convert::lifting::{Form, Lifting, Usual, member, opaque, string, text, unread};
use crate::convert::{linked, mime_of_extension};
use crate::json::{Kind, Object, Value};
use crate::results::UnlistedCalls;

/// The settings of the dialect.
pub(super) const FORM: Form = Form {
    wire: super::FORM,
    groups: &[],
    shared: super::render::SHARED,
    usual: &[
        ("model", Usual::Model),
        ("max_tokens", Usual::MaxTokens),
        ("max_completion_tokens", Usual::MaxTokens),
        ("temperature", Usual::Temperature),
        ("top_p", Usual::TopP),
        ("stop", Usual::Stop),
        ("stream", Usual::Stream),
    ],
    snake_too: false,
    setting,
};

const ROLES: &[(&str, Speaker)] =
    &[("user", Speaker::User), ("system", Speaker::System), ("developer", Speaker::System)];

fn setting(lifting: &mut Lifting, path: &str, value: Value<'_, '_>, pointer: &str) -> bool {
    match path {
        "tools" if value.is(Kind::Array) => {
            for (index, tool) in value.elements().enumerate() {
                let pointer = format!("/tools/{index}");
                if let Some(key) = ["custom", "function"].into_iter().find(|key| member(tool, key).is_some()) {
                    lifting.note_unknown(tool, &["type", key], &pointer);
                }
                match (member(tool, "custom"), member(tool, "function")) {
                    (Some(custom), _) => lifting.free_tool(custom, &format!("{pointer}/custom")),
                    (None, Some(function)) => lifting.tool(function, "parameters", &format!("{pointer}/function")),
                    (None, None) => lifting.tool(tool, "parameters", &pointer),
                }
            }
        }
        "tool_choice" => lifting.tool_choice(choice(value), pointer),
        // The older name of the list of tools, when all tools were functions.
        "functions" if value.is(Kind::Array) => {
            for (index, function) in value.elements().enumerate() {
                lifting.tool(function, "parameters", &format!("/functions/{index}"));
            }
        }
        "function_call" if named_function(value).is_some() => lifting.tool_choice(named_function(value), pointer),
        "response_format" => {
            let format = format(lifting, value, pointer);
            lifting.response_format(format, pointer);
        }
        _ => return false,
    }
    true
}

fn choice(value: Value<'_, '_>) -> Option<ToolChoice> {
    match value.str().as_deref() {
        Some("none") => Some(ToolChoice::None),
        Some("required" | "any") => Some(ToolChoice::Any),
        Some("auto") => Some(ToolChoice::Auto),
        Some(_) => None,
        None => {
            let named = member(value, "function").or_else(|| member(value, "custom"))?;
            string(named, "name").map(ToolChoice::Tool)
        }
    }
}

fn named_function(value: Value<'_, '_>) -> Option<ToolChoice> {
    choice(value).or_else(|| string(value, "name").map(ToolChoice::Tool))
}

fn format(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Option<ResponseFormat> {
    let format = match string(value, "type")?.as_str() {
        "text" => ResponseFormat::Text,
        "json_object" => ResponseFormat::Json,
        "json_schema" => {
            let schema = member(value, "json_schema").filter(|schema| schema.is(Kind::Object))?;
            let within = format!("{pointer}/json_schema");
            lifting.note_unknown(schema, &["name", "description", "schema", "strict"], &within);
            ResponseFormat::Schema(lifting.response_schema(schema, &within))
        }
        _ => return None,
    };
    lifting.note_unknown(value, &["type", "json_schema"], pointer);
    Some(format)
}

/// Whether a message makes or answers calls.
pub(super) fn has_pairs(message: Object<'_, '_>) -> bool {
    let is_result = message.get("role").is_some_and(|role| role.says("tool") || role.says(FUNCTION));
    let makes_calls = message.get("tool_calls").is_some_and(|calls| calls.elements().next().is_some());
    is_result || makes_calls || message.get("function_call").is_some_and(|call| call.is(Kind::Object))
}

/// Reads one message.
pub(super) fn message(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    let blocks = lifting.content(member(value, "content"), &format!("{pointer}/content"), block);
    match string(value, "role").as_deref() {
        Some("tool" | FUNCTION) => return result(lifting, value, blocks, pointer),
        Some("assistant") => return assistant(lifting, value, blocks, pointer),
        _ => {}
    }
    let speaker = lifting.speaker(value, ROLES, pointer);
    lifting.note_unknown(value, &["role", "content"], pointer);
    lifting.push(speaker, blocks);
}

/// The role of results from before calls had ids.
pub(super) const FUNCTION: &str = "function";

/// The call from before calls had ids.
pub(super) const UNLISTED: UnlistedCalls = UnlistedCalls { member: FUNCTION_CALL, answered_by: FUNCTION };
const FUNCTION_CALL: &str = "function_call";

/// Reads a tool message. Before calls had ids, it named the tool.
fn result(lifting: &mut Lifting, value: Value<'_, '_>, blocks: Vec<LiftedBlock>, pointer: &str) {
    let name = lifting.field(value, "name", pointer);
    let id = match lifting.field(value, "tool_call_id", pointer) {
        Some(id) => id,
        None => function_id(name.as_deref().unwrap_or_default()),
    };
    lifting.note_unknown(value, &["role", "content", "tool_call_id", "name", "refusal"], pointer);
    lifting.push_result(Lifting::marked_result(LiftedResult { id, name, blocks, failed: false }, pointer));
    if let Some(refusal) = lifting.field(value, "refusal", pointer) {
        lifting.push(Speaker::User, vec![text(refusal, &format!("{pointer}/refusal"))]);
    }
}

/// The members of an assistant's message that are carried over.
const ASSISTANT: &[&str] =
    &["role", "content", "refusal", "reasoning_content", "reasoning", "function_call", "tool_calls"];

fn assistant(lifting: &mut Lifting, value: Value<'_, '_>, said: Vec<LiftedBlock>, pointer: &str) {
    let mut blocks = Vec::new();
    for key in ["reasoning_content", "reasoning"] {
        if let Some(text) = lifting.field(value, key, pointer).filter(|text| !text.is_empty()) {
            let reasoning = Reasoning { text, seal: None, redacted: false, family: Family::Plain };
            blocks.push(LiftedBlock::new(Says::Reasoning(Box::new(reasoning)), format!("{pointer}/{key}")));
        }
    }
    blocks.extend(said);
    if let Some(refusal) = lifting.field(value, "refusal", pointer).filter(|refusal| !refusal.is_empty()) {
        blocks.push(LiftedBlock::new(Says::Refusal(refusal), format!("{pointer}/refusal")));
    }
    lifting.note_unknown(value, ASSISTANT, pointer);
    if let Some(value) = member(value, FUNCTION_CALL) {
        let pointer = format!("{pointer}/function_call");
        blocks.push(match value.kind() {
            Kind::Object => {
                lifting.note_unknown(value, &["name", "arguments"], &pointer);
                let name = lifting.field(value, "name", &pointer).unwrap_or_default();
                let mut call = lifting.call(function_id(&name), name, member(value, "arguments"), &pointer);
                if let Says::Call(call) = &mut call.says {
                    call.answered_by = FUNCTION;
                }
                call
            }
            _ => unread(value, &pointer),
        });
    }
    let calls = member(value, "tool_calls").map(|calls| match calls.kind() {
        Kind::String => vec![unread(calls, &format!("{pointer}/tool_calls"))],
        _ => lifting.content(Some(calls), &format!("{pointer}/tool_calls"), call),
    });
    blocks.extend(calls.into_iter().flatten());
    lifting.push(Speaker::Assistant, blocks);
}

fn call(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let (function, key) = match (member(value, "custom"), member(value, "function")) {
        (Some(custom), _) => (custom, "custom"),
        (None, Some(function)) => (function, "function"),
        (None, None) => (value, ""),
    };
    if !function.is(Kind::Object) {
        return unread(value, pointer);
    }
    let id = lifting.field(value, "id", pointer).unwrap_or_default();
    let within = if key.is_empty() { pointer.to_owned() } else { format!("{pointer}/{key}") };
    let name = lifting.field(function, "name", &within).unwrap_or_default();
    if !key.is_empty() {
        lifting.note_unknown(value, &["id", "type", "index", key], pointer);
    }
    if key == "custom" {
        lifting.note_unknown(function, &["name", "input"], &within);
        let input = lifting.field(function, "input", &within).unwrap_or_default();
        return Lifting::free_call(id, name, input, pointer);
    }
    lifting.note_unknown(function, &["id", "type", "index", "name", "arguments"], &within);
    lifting.call(id, name, member(function, "arguments"), pointer)
}

/// The id of a call from before calls had ids.
fn function_id(name: &str) -> String {
    format!("call_{name}")
}

fn block(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let kind = string(value, "type").unwrap_or_default();
    let says = match kind.as_str() {
        "text" => string(value, "text").map(Says::Text),
        "refusal" => string(value, "refusal").map(Says::Refusal),
        "image_url" => image(lifting, value, pointer),
        "input_audio" => member(value, "input_audio").and_then(|inner| audio(lifting, inner, pointer)),
        "file" => member(value, "file").and_then(|inner| file(lifting, inner, pointer)),
        _ => None,
    };
    let Some(says) = says else {
        let is_known = matches!(kind.as_str(), "text" | "refusal" | "image_url");
        return if is_known { unread(value, pointer) } else { opaque(value, &kind, true, pointer) };
    };
    lifting.note_unknown(value, &["type", &kind], pointer);
    LiftedBlock::new(says, pointer)
}

fn image(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Option<Says> {
    let image = member(value, "image_url")?;
    let url = image.str().map(String::from).or_else(|| string(image, "url"))?;
    let within = format!("{pointer}/image_url");
    lifting.note_unknown(image, &["url", "detail"], &within);
    let detail = lifting.field(image, "detail", &within);
    Some(Says::Media(Box::new(Media { detail, ..linked(&url, MediaKind::Image) })))
}

fn audio(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Option<Says> {
    let mime = mime_of_extension(&string(value, "format")?)?;
    let source = MediaSource::Data(string(value, "data")?);
    lifting.note_unknown(value, &["data", "format"], &format!("{pointer}/input_audio"));
    Some(Says::Media(Box::new(Media { mime: Some(mime.to_owned()), ..Media::new(MediaKind::Audio, source) })))
}

fn file(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Option<Says> {
    let within = format!("{pointer}/file");
    let (media, key) = match (string(value, "file_data"), string(value, "file_id")) {
        (Some(data), _) if data.starts_with("data:") => (linked(&data, MediaKind::Document), "file_data"),
        (Some(data), _) => (Media::new(MediaKind::Document, MediaSource::Data(data)), "file_data"),
        (None, Some(id)) => (Media::new(MediaKind::Document, MediaSource::File(Family::OpenAi, id)), "file_id"),
        (None, None) => return None,
    };
    lifting.note_unknown(value, &["filename", key], &within);
    let name = lifting.field(value, "filename", &within);
    Some(Says::Media(Box::new(Media { name, ..media })))
}
