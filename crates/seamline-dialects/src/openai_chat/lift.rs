//! Wire to a conversation that other dialects can say.

use seamline_model::conversation::{
    Block, Conversation, Family, Media, MediaKind, MediaSource, Reasoning, Says, Speaker, ToolChoice,
};

use super::NAME;
use crate::Error;
use crate::convert::lifting::{Lifting, member, number, opaque, string, strings, text};
use crate::convert::linked;
use crate::json::{Kind, Value};
use crate::rewriting::input_object;

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
    for (index, value) in list.elements().enumerate() {
        message(&mut lifting, value, &format!("{base}/{index}"));
    }
    Ok(lifting.conversation)
}

fn setting(lifting: &mut Lifting, key: &str, value: Value<'_, '_>) {
    let settings = &mut lifting.conversation.settings;
    match key {
        // How a stream ends goes with the stream.
        "messages" | "stream_options" => {}
        "model" => settings.model = value.str().map(String::from),
        "max_tokens" | "max_completion_tokens" => settings.max_tokens = number(value),
        "temperature" => settings.temperature = number(value),
        "top_p" => settings.top_p = number(value),
        "stop" => settings.stop = strings(value),
        "stream" => settings.stream = Some(value.is(Kind::True)),
        "tools" => {
            for (index, tool) in value.elements().enumerate() {
                let pointer = format!("/tools/{index}");
                match member(tool, "custom") {
                    Some(custom) => lifting.free_tool(custom, pointer),
                    None => lifting.tool(member(tool, "function").unwrap_or(tool), "parameters", pointer),
                }
            }
        }
        "tool_choice" => settings.tool_choice = choice(value),
        other => lifting.unknown_setting(&format!("/{other}")),
    }
}

fn choice(value: Value<'_, '_>) -> Option<ToolChoice> {
    match value.str().as_deref() {
        Some("none") => Some(ToolChoice::None),
        Some("required") => Some(ToolChoice::Any),
        Some(_) => Some(ToolChoice::Auto),
        None => string(member(value, "function")?, "name").map(ToolChoice::Tool),
    }
}

fn message(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    let blocks = content(member(value, "content"), &format!("{pointer}/content"));
    let role = string(value, "role").unwrap_or_default();
    let speaker = match role.as_str() {
        "tool" | "function" => return answer(lifting, value, blocks, pointer),
        "assistant" => return assistant(lifting, value, blocks, pointer),
        "system" | "developer" => Speaker::System,
        _ => Speaker::User,
    };
    lifting.strangers(value, &["role", "content"], pointer);
    lifting.push(speaker, blocks);
}

/// A tool's message. Before calls had ids, it named the tool.
fn answer(lifting: &mut Lifting, value: Value<'_, '_>, blocks: Vec<Block>, pointer: &str) {
    let id = match string(value, "tool_call_id") {
        Some(id) => id,
        None => function_id(&string(value, "name").unwrap_or_default()),
    };
    lifting.strangers(value, &["role", "content", "tool_call_id", "name", "refusal"], pointer);
    lifting.push_result(Lifting::marked_result(id, blocks, pointer));
    if let Some(refusal) = string(value, "refusal") {
        lifting.push(Speaker::User, vec![text(refusal, &format!("{pointer}/refusal"))]);
    }
}

/// The members of an assistant's message that are carried over.
const ASSISTANT: &[&str] =
    &["role", "content", "refusal", "reasoning_content", "reasoning", "function_call", "tool_calls"];

fn assistant(lifting: &mut Lifting, value: Value<'_, '_>, said: Vec<Block>, pointer: &str) {
    let mut blocks = Vec::new();
    for key in ["reasoning_content", "reasoning"] {
        if let Some(text) = string(value, key).filter(|text| !text.is_empty()) {
            let reasoning = Reasoning { text, seal: None, redacted: false, family: Family::Plain };
            blocks.push(Block::new(Says::Reasoning(reasoning), format!("{pointer}/{key}")));
        }
    }
    blocks.extend(said);
    if let Some(refusal) = string(value, "refusal") {
        blocks.push(Block::new(Says::Refusal(refusal), format!("{pointer}/refusal")));
    }
    lifting.strangers(value, ASSISTANT, pointer);
    if let Some(call) = member(value, "function_call") {
        let name = string(call, "name").unwrap_or_default();
        let pointer = format!("{pointer}/function_call");
        blocks.push(lifting.call(function_id(&name), name, member(call, "arguments"), &pointer));
    }
    let calls = member(value, "tool_calls").into_iter().flat_map(Value::elements);
    for (index, value) in calls.enumerate() {
        blocks.push(call(lifting, value, &format!("{pointer}/tool_calls/{index}")));
    }
    lifting.push(Speaker::Assistant, blocks);
}

fn call(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Block {
    let id = string(value, "id").unwrap_or_default();
    if let Some(custom) = member(value, "custom") {
        let name = string(custom, "name").unwrap_or_default();
        return lifting.free_call(id, name, &string(custom, "input").unwrap_or_default(), pointer);
    }
    let function = member(value, "function").unwrap_or(value);
    let name = string(function, "name").unwrap_or_default();
    lifting.call(id, name, member(function, "arguments"), pointer)
}

/// The id of a call from before calls had ids.
fn function_id(name: &str) -> String {
    format!("call_{name}")
}

/// The blocks of a content, which may be text alone.
fn content(content: Option<Value<'_, '_>>, pointer: &str) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    match content.kind() {
        Kind::Array => {
            let parts = content.elements().enumerate();
            parts.map(|(index, part)| block(part, &format!("{pointer}/{index}"))).collect()
        }
        Kind::Object => vec![text(input_object(Some(content)), pointer)],
        _ => vec![text(content.str().unwrap_or_default(), pointer)],
    }
}

fn block(value: Value<'_, '_>, pointer: &str) -> Block {
    let kind = string(value, "type").unwrap_or_default();
    let says = match kind.as_str() {
        "text" => string(value, "text").map(Says::Text),
        "refusal" => string(value, "refusal").map(Says::Refusal),
        "image_url" => image(value),
        "input_audio" => member(value, "input_audio").and_then(audio),
        "file" => member(value, "file").and_then(file),
        _ => None,
    };
    match says {
        Some(says) => Block::new(says, pointer),
        None => opaque(value, &kind, true, pointer),
    }
}

fn image(value: Value<'_, '_>) -> Option<Says> {
    let image = member(value, "image_url")?;
    let url = image.str().map(String::from).or_else(|| string(image, "url"))?;
    Some(Says::Media(linked(&url, MediaKind::Image)))
}

fn audio(value: Value<'_, '_>) -> Option<Says> {
    let format = string(value, "format")?;
    let mime = crate::convert::mime_of_extension(&format).map(str::to_owned);
    let source = MediaSource::Data(string(value, "data")?);
    Some(Says::Media(Media { kind: MediaKind::Audio, mime, source, name: None }))
}

fn file(value: Value<'_, '_>) -> Option<Says> {
    let name = string(value, "filename");
    let media = match (string(value, "file_data"), string(value, "file_id")) {
        (Some(data), _) if data.starts_with("data:") => linked(&data, MediaKind::Document),
        (Some(data), _) => Media { kind: MediaKind::Document, mime: None, source: MediaSource::Data(data), name: None },
        (None, Some(id)) => Media { kind: MediaKind::Document, mime: None, source: MediaSource::File(id), name: None },
        (None, None) => return None,
    };
    Some(Says::Media(Media { name, ..media }))
}
