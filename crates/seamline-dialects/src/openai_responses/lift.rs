//! Wire to a conversation that other dialects can say.

use seamline_model::conversation::{
    Block, Conversation, Family, Media, MediaKind, MediaSource, Message, Reasoning, Says, Speaker, ToolChoice,
};

use super::NAME;
use crate::Error;
use crate::convert::lifting::{Lifting, member, number, opaque, string, text};
use crate::convert::linked;
use crate::json::{Kind, Value};

/// Items that are for the provider alone.
const UNSPOKEN: &[&str] = &["item_reference", "compaction", "compaction_trigger", "mcp_list_tools", "additional_tools"];

/// Items that are carried over, and their members; ids and states of items are the provider's own.
const CARRIED: &[&str] =
    &["message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"];
const MEMBERS: &[&str] = &[
    "type",
    "role",
    "content",
    "id",
    "status",
    "call_id",
    "name",
    "arguments",
    "input",
    "output",
    "summary",
    "encrypted_content",
];

/// What a body says.
///
/// # Errors
///
/// When the body is not JSON or not this dialect's envelope.
pub(crate) fn lift(body: &[u8]) -> Result<Conversation, Error> {
    let document = Lifting::document(body)?;
    let (list, base) = Lifting::list(&document, NAME, "input")?;
    let mut lifting = Lifting::default();
    for (key, value) in document.root().members() {
        if !value.is(Kind::Null) {
            lifting.placed(&format!("/{}", key.name()));
            setting(&mut lifting, &key.name(), value);
        }
    }
    if let Some(said) = list.str() {
        lifting.push(Speaker::User, vec![text(said, &base)]);
    }
    for (index, value) in list.elements().enumerate() {
        item(&mut lifting, value, &format!("{base}/{index}"));
    }
    Ok(lifting.conversation)
}

fn setting(lifting: &mut Lifting, key: &str, value: Value<'_, '_>) {
    let settings = &mut lifting.conversation.settings;
    match key {
        "input" => {}
        "instructions" => {
            let said = value.str().unwrap_or_default();
            lifting.conversation.system.push(text(said, "/instructions"));
        }
        "model" => settings.model = value.str().map(String::from),
        "max_output_tokens" => settings.max_tokens = number(value),
        "temperature" => settings.temperature = number(value),
        "top_p" => settings.top_p = number(value),
        "stream" => settings.stream = Some(value.is(Kind::True)),
        "tools" => {
            for (index, tool) in value.elements().enumerate() {
                let pointer = format!("/tools/{index}");
                match string(tool, "type").as_deref() {
                    None | Some("function") => lifting.tool(tool, "parameters", pointer),
                    Some("custom") => lifting.free_tool(tool, pointer),
                    Some(kind) => lifting.left(format!("tool `{kind}`"), pointer, "the provider runs it itself"),
                }
            }
        }
        "tool_choice" => {
            settings.tool_choice = match value.str().as_deref() {
                Some("none") => Some(ToolChoice::None),
                Some("required") => Some(ToolChoice::Any),
                Some(_) => Some(ToolChoice::Auto),
                None => string(value, "name").map(ToolChoice::Tool),
            }
        }
        other => lifting.unknown_setting(&format!("/{other}")),
    }
}

fn item(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    let kind = string(value, "type").unwrap_or_else(|| "message".to_owned());
    let field = |key| string(value, key).unwrap_or_default();
    if CARRIED.contains(&kind.as_str()) {
        lifting.strangers(value, MEMBERS, pointer);
    }
    match kind.as_str() {
        "message" => message(lifting, value, pointer),
        "function_call" => {
            let call = lifting.call(field("call_id"), field("name"), member(value, "arguments"), pointer);
            with_assistant(lifting, call);
        }
        "custom_tool_call" => {
            let call = lifting.free_call(field("call_id"), field("name"), &field("input"), pointer);
            with_assistant(lifting, call);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let blocks = content(member(value, "output"), &format!("{pointer}/output"));
            lifting.push_result(Lifting::marked_result(field("call_id"), blocks, pointer));
        }
        "reasoning" => with_assistant(lifting, reasoning(value, pointer)),
        other => {
            let spoken = !UNSPOKEN.contains(&other);
            with_assistant(lifting, opaque(value, other, spoken, pointer));
        }
    }
}

fn message(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    let blocks = content(member(value, "content"), &format!("{pointer}/content"));
    let speaker = match string(value, "role").as_deref() {
        Some("assistant") => Speaker::Assistant,
        Some("system" | "developer") => Speaker::System,
        _ => Speaker::User,
    };
    // Reasoning is an item of its own, and goes before what came of it.
    let reasons = |message: &Message| message.blocks.iter().all(|block| matches!(block.says, Says::Reasoning(_)));
    match lifting.conversation.messages.last_mut() {
        Some(last) if speaker == Speaker::Assistant && reasons(last) => last.blocks.extend(blocks),
        _ => lifting.push(speaker, blocks),
    }
}

/// Adds an item to what the assistant is saying.
fn with_assistant(lifting: &mut Lifting, block: Block) {
    lifting.conversation.say(Speaker::Assistant, block);
}

fn reasoning(value: Value<'_, '_>, pointer: &str) -> Block {
    let lists = [member(value, "summary"), member(value, "content")];
    let parts = lists.into_iter().flatten().flat_map(Value::elements);
    let text = parts.filter_map(|part| string(part, "text")).collect::<Vec<_>>().join("\n\n");
    let seal = string(value, "encrypted_content");
    Block::new(Says::Reasoning(Reasoning { text, seal, redacted: false, family: Family::OpenAi }), pointer)
}

/// The blocks of a content, which may be text alone.
fn content(content: Option<Value<'_, '_>>, pointer: &str) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    if let Some(said) = content.str() {
        return vec![text(said, pointer)];
    }
    let parts = content.elements().enumerate();
    parts.map(|(index, part)| block(part, &format!("{pointer}/{index}"))).collect()
}

fn block(value: Value<'_, '_>, pointer: &str) -> Block {
    let kind = string(value, "type").unwrap_or_default();
    let says = match kind.as_str() {
        "input_text" | "output_text" | "text" => string(value, "text").map(Says::Text),
        "refusal" => string(value, "refusal").map(Says::Refusal),
        "input_image" => media(value, "image_url", MediaKind::Image),
        "input_file" => media(value, "file_data", MediaKind::Document),
        _ => None,
    };
    match says {
        Some(says) => Block::new(says, pointer),
        None => opaque(value, &kind, true, pointer),
    }
}

fn media(value: Value<'_, '_>, data: &str, kind: MediaKind) -> Option<Says> {
    let url = string(value, data).or_else(|| string(value, "file_url"));
    let media = match (url, string(value, "file_id")) {
        (Some(url), _) => linked(&url, kind),
        (None, Some(id)) => Media { kind, mime: None, source: MediaSource::File(id), name: None },
        (None, None) => return None,
    };
    Some(Says::Media(Media { name: string(value, "filename"), ..media }))
}
