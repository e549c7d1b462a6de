//! Wire to a conversation that other dialects can say. Keys are read as JSON and as
//! protocol buffers spell them.

use std::collections::VecDeque;

use seamline_model::conversation::{
    Answer, Block, Conversation, Family, Media, MediaKind, MediaSource, Reasoning, Says, Speaker, ToolChoice,
};
use seamline_model::{Alphabet, ErrorText, IdDemand};

use super::NAME;
use super::render::NO_SIGNATURE;
use crate::Error;
use crate::convert::lifting::{Lifting, compact, member, member_of, number, opaque, string, strings, text};
use crate::json::{Kind, Value};

/// How ids look that calls without one are given.
const MADE: IdDemand = IdDemand {
    alphabet: Alphabet::Word,
    alphabet_error: ErrorText(""),
    length_max: 40,
    length_error: ErrorText(""),
    prefix: "call_",
    demanded: true,
};

/// What a body says.
///
/// # Errors
///
/// When the body is not JSON or not this dialect's envelope.
pub(crate) fn lift(body: &[u8]) -> Result<Conversation, Error> {
    let document = Lifting::document(body)?;
    let (list, base) = Lifting::list(&document, NAME, "contents")?;
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
    let mut open = Open::default();
    for (index, content) in list.elements().enumerate() {
        let pointer = format!("{base}/{index}");
        let speaker = match string(content, "role").as_deref() {
            Some("model") => Speaker::Assistant,
            Some("system") => Speaker::System,
            _ => Speaker::User,
        };
        if speaker == Speaker::Assistant {
            open.calls.clear();
        }
        lifting.strangers(content, &["role", "parts"], &pointer);
        let blocks = parts(&mut lifting, content, &pointer, &mut open);
        lifting.push(speaker, blocks);
    }
    Ok(lifting.conversation)
}

/// The calls of the last content that are not answered yet, by name and id.
#[derive(Default)]
struct Open {
    calls: VecDeque<(String, String)>,
}

impl Open {
    /// The call that a result without an id answers: the first with its name, else the first.
    fn take(&mut self, name: &str) -> Option<String> {
        let place = self.calls.iter().position(|(known, _)| known == name).unwrap_or(0);
        self.calls.remove(place).map(|(_, id)| id)
    }
}

fn setting(lifting: &mut Lifting, key: &str, value: Value<'_, '_>) {
    match key {
        "contents" => {}
        "model" => {
            let model = value.str().map(|model| model.trim_start_matches("models/").to_owned());
            lifting.conversation.settings.model = model;
        }
        "systemInstruction" | "system_instruction" => {
            let pointer = format!("/{key}");
            let blocks = match value.str() {
                Some(said) => vec![text(said, &pointer)],
                None => parts(lifting, value, &pointer, &mut Open::default()),
            };
            lifting.conversation.system.extend(blocks);
        }
        "generationConfig" | "generation_config" => {
            for (name, value) in value.members() {
                lifting.placed(&format!("/{key}/{}", name.name()));
                generation(lifting, &name.name(), value, key);
            }
        }
        "tools" => tools(lifting, value),
        "toolConfig" | "tool_config" => {
            let config = member_of(value, &["functionCallingConfig", "function_calling_config"]);
            lifting.conversation.settings.tool_choice = config.and_then(choice);
        }
        other => lifting.unknown_setting(&format!("/{other}")),
    }
}

fn generation(lifting: &mut Lifting, key: &str, value: Value<'_, '_>, group: &str) {
    let settings = &mut lifting.conversation.settings;
    match key {
        "maxOutputTokens" | "max_output_tokens" => settings.max_tokens = number(value),
        "temperature" => settings.temperature = number(value),
        "topP" | "top_p" => settings.top_p = number(value),
        "stopSequences" | "stop_sequences" => settings.stop = strings(value),
        other => lifting.unknown_setting(&format!("/{group}/{other}")),
    }
}

fn tools(lifting: &mut Lifting, value: Value<'_, '_>) {
    for (index, group) in value.elements().enumerate() {
        let pointer = format!("/tools/{index}");
        let Some(declared) = member_of(group, &["functionDeclarations", "function_declarations"]) else {
            lifting.left("tool", pointer, "it is one of the provider's own");
            continue;
        };
        let key = declared.key().name();
        for (place, tool) in declared.elements().enumerate() {
            let schemas = ["parametersJsonSchema", "parameters_json_schema", "parameters"];
            let schema = schemas.into_iter().find(|key| member(tool, key).is_some()).unwrap_or("parameters");
            lifting.tool(tool, schema, format!("{pointer}/{key}/{place}"));
            let added = lifting.conversation.settings.tools.last_mut().filter(|_| schema == "parameters");
            if let Some(schema) = added.and_then(|tool| tool.schema.as_mut()) {
                *schema = plain_types(schema);
            }
        }
    }
}

/// A schema with the names of types as JSON Schema spells them.
fn plain_types(schema: &str) -> String {
    let types = ["OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "NULL"];
    let member = |name: &str| format!("\"type\":\"{name}\"");
    types
        .iter()
        .fold(schema.to_owned(), |schema, name| schema.replace(&member(name), &member(&name.to_ascii_lowercase())))
}

fn choice(config: Value<'_, '_>) -> Option<ToolChoice> {
    let named = member_of(config, &["allowedFunctionNames", "allowed_function_names"]).map(strings);
    match (string(config, "mode")?.as_str(), named.as_deref()) {
        ("NONE", _) => Some(ToolChoice::None),
        ("ANY", Some([name])) => Some(ToolChoice::Tool(name.clone())),
        ("ANY", _) => Some(ToolChoice::Any),
        _ => Some(ToolChoice::Auto),
    }
}

fn parts(lifting: &mut Lifting, content: Value<'_, '_>, pointer: &str, open: &mut Open) -> Vec<Block> {
    let parts = member(content, "parts").into_iter().flat_map(Value::elements).enumerate();
    parts.map(|(index, value)| part(lifting, value, &format!("{pointer}/parts/{index}"), open)).collect()
}

fn part(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str, open: &mut Open) -> Block {
    let seal = member_of(value, &["thoughtSignature", "thought_signature"]).and_then(Value::str);
    let seal = seal.map(String::from).filter(|seal| seal != NO_SIGNATURE);
    if let Some(said) = string(value, "text") {
        return words(lifting, value, said, seal, pointer);
    }
    if let Some(call) = member_of(value, &["functionCall", "function_call"]) {
        let name = string(call, "name").unwrap_or_default();
        let id = string(call, "id").filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| MADE.made(&format!("{pointer}/{}", compact(call.raw())), |_| false));
        open.calls.push_back((name.clone(), id.clone()));
        let mut block = lifting.call(id, name, member(call, "args"), pointer);
        if let Says::Call(call) = &mut block.says {
            call.seal = seal;
        }
        return block;
    }
    if let Some(result) = member_of(value, &["functionResponse", "function_response"]) {
        return answer(result, pointer, open);
    }
    let data = member_of(value, &["inlineData", "inline_data", "fileData", "file_data"]);
    if let Some(says) = data.and_then(media) {
        return Block::new(says, pointer);
    }
    // A part may be nothing but its signature.
    let mut kinds = value.members().map(|(key, _)| key.name()).filter(|key| !key.starts_with("thought"));
    match kinds.next() {
        Some(kind) => opaque(value, &kind, true, pointer),
        None => opaque(value, "thoughtSignature", false, pointer),
    }
}

/// Text, which is reasoning when it is marked as a thought.
fn words(lifting: &mut Lifting, value: Value<'_, '_>, said: String, seal: Option<String>, pointer: &str) -> Block {
    if member(value, "thought").is_some_and(|thought| thought.is(Kind::True)) {
        let reasoning = Reasoning { text: said, seal, redacted: false, family: Family::Gemini };
        return Block::new(Says::Reasoning(reasoning), pointer);
    }
    if seal.is_some() {
        lifting.left("signature of a text", pointer, "only Gemini's models read it");
    }
    text(said, pointer)
}

fn answer(result: Value<'_, '_>, pointer: &str, open: &mut Open) -> Block {
    let name = string(result, "name").unwrap_or_default();
    let id = match string(result, "id").filter(|id| !id.is_empty()) {
        Some(id) => {
            open.calls.retain(|(_, known)| *known != id);
            id
        }
        None => open.take(&name).unwrap_or_else(|| MADE.made(pointer, |_| false)),
    };
    let response = member(result, "response");
    let failed = response.is_some_and(|response| member(response, "error").is_some());
    let mut blocks: Vec<Block> = response.map(|response| output(response, pointer)).into_iter().collect();
    for (index, part) in member(result, "parts").into_iter().flat_map(Value::elements).enumerate() {
        let data = member_of(part, &["inlineData", "inline_data", "fileData", "file_data"]);
        let pointer = format!("{pointer}/functionResponse/parts/{index}");
        blocks.extend(data.and_then(media).map(|says| Block::new(says, pointer)));
    }
    Block::new(Says::Result(Answer { id, name: Some(name), blocks, failed }), pointer)
}

/// What a tool gave: the one text it is wrapped in, or the whole object.
fn output(response: Value<'_, '_>, pointer: &str) -> Block {
    let mut members = response.members();
    let alone = match (members.next(), members.next()) {
        (Some((key, value)), None) if matches!(&*key.name(), "output" | "error" | "result") => Some(value),
        _ => None,
    };
    match alone.and_then(Value::str) {
        Some(said) => text(said, pointer),
        None => text(compact(alone.unwrap_or(response).raw()), pointer),
    }
}

fn media(data: Value<'_, '_>) -> Option<Says> {
    let mime = member_of(data, &["mimeType", "mime_type"]).and_then(Value::str).map(String::from);
    let uri = member_of(data, &["fileUri", "file_uri"]).and_then(Value::str);
    let source = match (string(data, "data"), uri) {
        (Some(data), _) => MediaSource::Data(data),
        (None, Some(uri)) => MediaSource::Url(uri.into_owned()),
        (None, None) => return None,
    };
    let kind = mime.as_deref().map_or(MediaKind::Document, MediaKind::of_mime);
    let name = member_of(data, &["displayName", "display_name"]).and_then(Value::str).map(String::from);
    Some(Says::Media(Media { kind, mime, source, name }))
}
