//! Lifts a body into a conversation that other dialects can render. Keys are read as JSON and as
//! protocol buffers spell them.

use std::collections::{HashMap, HashSet, VecDeque};

use seamline_model::conversation::{
    Conversation, Family, Fate, LiftedBlock, LiftedResult, Media, MediaKind, MediaSource, Reasoning, ResponseFormat,
    ResponseSchema, Says, Speaker, ToolChoice,
};
use seamline_model::{Alphabet, IdDemand};

use super::wire::continues;
use crate::Error;
use crate::convert::lifting::{
    Form, Lifting, NOT_CARRIED, Usual, compact, member, member_of, opaque, string, text, unread,
};
use crate::json::{Kind, Value};
use crate::signing::NO_SIGNATURE;

/// The form of the ids that calls without one get.
const MADE: IdDemand =
    IdDemand { alphabet: Alphabet::Word, length_max: 40, prefix: super::ID_PREFIXES[0], ..IdDemand::ANY };

const FORM: Form = Form {
    wire: super::FORM,
    groups: &["generationConfig", "toolConfig"],
    shared: super::render::SHARED,
    usual: &[
        ("generationConfig.maxOutputTokens", Usual::MaxTokens),
        ("generationConfig.temperature", Usual::Temperature),
        ("generationConfig.topP", Usual::TopP),
        ("generationConfig.stopSequences", Usual::Stop),
    ],
    snake_too: true,
    setting,
};

const ROLES: &[(&str, Speaker)] =
    &[("user", Speaker::User), ("model", Speaker::Assistant), ("system", Speaker::System), ("function", Speaker::User)];

/// The names of a signature.
const SEALS: &[&str] = &["thoughtSignature", "thought_signature"];

/// The names of the member that holds a result.
const RESULT: &[&str] = &["functionResponse", "function_response"];

/// The names of the members that hold media.
const MEDIA: &[&str] = &["inlineData", "inline_data", "fileData", "file_data"];

/// Lifts a body.
///
/// # Errors
///
/// When the body is not JSON or not this dialect's envelope.
pub(crate) fn lift(body: &[u8]) -> Result<Conversation, Error> {
    let mut open = Open::default();
    let mut before = Speaker::User;
    Lifting::run(body, &FORM, |lifting, content, pointer| {
        let speaker = lifting.speaker(content, ROLES, pointer);
        // Adjacent contents of the model are answered together.
        if speaker == Speaker::Assistant && before != Speaker::Assistant {
            open = Open::default();
        }
        before = speaker;
        open.assign(content);
        lifting.note_unknown(content, &["role", "parts"], pointer);
        let blocks = parts(lifting, content, pointer, &mut open);
        lifting.push(speaker, blocks);
    })
}

/// The calls of the last contents of the model, and the ids of the calls that the results of this content answer.
#[derive(Default)]
struct Open {
    /// The ids of the calls.
    ids: Vec<String>,
    answered: HashSet<usize>,
    in_order: VecDeque<usize>,
    by_name: HashMap<String, VecDeque<usize>>,
    /// The calls of each tool whose id was made here.
    nameless: HashMap<String, VecDeque<usize>>,
    by_id: HashMap<String, VecDeque<usize>>,
    /// The ids for the results that are still to be read, in order.
    assigned: VecDeque<Option<String>>,
}

impl Open {
    fn push(&mut self, name: &str, id: &str, is_nameless: bool) {
        let place = self.ids.len();
        self.ids.push(id.to_owned());
        self.in_order.push_back(place);
        self.by_name.entry(name.to_owned()).or_default().push_back(place);
        if is_nameless {
            self.nameless.entry(name.to_owned()).or_default().push_back(place);
        }
        self.by_id.entry(id.to_owned()).or_default().push_back(place);
    }

    /// Finds the calls that the results of a content answer: first those that the results name by id; then, in order, a
    /// result without an id answers the first open call of its tool, and one whose id no call has the first without one.
    fn assign(&mut self, content: Value<'_, '_>) {
        let parts = member(content, "parts").filter(|parts| parts.is(Kind::Array));
        let results = parts.into_iter().flat_map(Value::elements).filter_map(|part| member_of(part, RESULT));
        let results: Vec<(Option<String>, String)> = results
            .filter(|result| result.is(Kind::Object))
            .map(|result| {
                let id = string(result, "id").filter(|id| !id.is_empty());
                (id, string(result, "name").unwrap_or_default())
            })
            .collect();
        for id in results.iter().filter_map(|(id, _)| id.as_ref()) {
            if let Some(calls) = self.by_id.get_mut(id) {
                self.answered.extend(calls.pop_front());
            }
        }
        let mut ids = VecDeque::with_capacity(results.len());
        for (id, name) in results {
            let Some(id) = id else {
                ids.push_back(self.take(&name));
                continue;
            };
            let is_unknown = !self.by_id.contains_key(&id);
            let open = self.nameless.get_mut(&name).filter(|_| is_unknown);
            let call = open.and_then(|places| next(places, &self.answered));
            self.answered.extend(call);
            ids.push_back(Some(call.map_or(id, |call| self.ids[call].clone())));
        }
        self.assigned = ids;
    }

    /// The id of the call that a result without an id answers: the first of its tool, else the first.
    fn take(&mut self, name: &str) -> Option<String> {
        let of_tool = self.by_name.get_mut(name).and_then(|places| next(places, &self.answered));
        let place = of_tool.or_else(|| next(&mut self.in_order, &self.answered))?;
        self.answered.insert(place);
        Some(self.ids[place].clone())
    }
}

/// The first of these calls that has no result.
fn next(places: &mut VecDeque<usize>, answered: &HashSet<usize>) -> Option<usize> {
    loop {
        match places.pop_front() {
            Some(place) if answered.contains(&place) => {}
            place => return place,
        }
    }
}

fn setting(lifting: &mut Lifting, path: &str, value: Value<'_, '_>, pointer: &str) -> bool {
    match path {
        "model" => {
            lifting.note_pointer("model", pointer);
            let model = lifting.word(value, pointer);
            let model = model.map(|model| model.trim_start_matches("models/").to_owned());
            lifting.conversation.settings.model = model;
        }
        "systemInstruction" => {
            let blocks = match value.kind() {
                Kind::Object => {
                    lifting.note_unknown(value, &["role", "parts"], pointer);
                    parts(lifting, value, pointer, &mut Open::default())
                }
                _ => lifting.content(Some(value), pointer, |lifting, value, pointer| {
                    part(lifting, value, pointer, &mut Open::default())
                }),
            };
            lifting.conversation.system.extend(blocks);
        }
        "generationConfig.responseMimeType" => mime_type(lifting, value, pointer),
        "generationConfig.responseSchema" => schema(lifting, plain_types(&compact(value.raw())), pointer),
        "generationConfig.responseJsonSchema" => schema(lifting, compact(value.raw()), pointer),
        "tools" if value.is(Kind::Array) => tools(lifting, value),
        "toolConfig.functionCallingConfig" => choice(lifting, value, pointer),
        _ => return false,
    }
    true
}

/// Reads the demanded format of a response, unless a schema says more.
fn mime_type(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    let format = match value.str().as_deref() {
        Some("application/json") => ResponseFormat::Json,
        Some("text/plain") => ResponseFormat::Text,
        _ => return lifting.note_dropped("setting `generationConfig.responseMimeType`", pointer, NOT_CARRIED),
    };
    if lifting.conversation.settings.format.is_none() {
        lifting.note_pointer("format", pointer);
        lifting.conversation.settings.format = Some(format);
    }
}

fn schema(lifting: &mut Lifting, schema: String, pointer: &str) {
    lifting.note_pointer("format", pointer);
    let schema = ResponseSchema { schema: Some(schema), ..ResponseSchema::default() };
    lifting.conversation.settings.format = Some(ResponseFormat::Schema(schema));
}

fn tools(lifting: &mut Lifting, value: Value<'_, '_>) {
    const DECLARED: &[&str] = &["functionDeclarations", "function_declarations"];
    for (index, group) in value.elements().enumerate() {
        let pointer = format!("/tools/{index}");
        let Some(declared) = member_of(group, DECLARED).filter(|declared| declared.is(Kind::Array)) else {
            lifting.note_dropped("tool", pointer, "it is one of the provider's own");
            continue;
        };
        lifting.note_unknown(group, DECLARED, &pointer);
        let key = declared.key().name();
        for (place, tool) in declared.elements().enumerate() {
            let schemas = ["parametersJsonSchema", "parameters_json_schema", "parameters"];
            let schema = schemas.into_iter().find(|key| member(tool, key).is_some()).unwrap_or("parameters");
            let count = lifting.conversation.settings.tools.len();
            lifting.tool(tool, schema, &format!("{pointer}/{key}/{place}"));
            let added = lifting.conversation.settings.tools.get_mut(count).filter(|_| schema == "parameters");
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

fn choice(lifting: &mut Lifting, config: Value<'_, '_>, pointer: &str) {
    lifting.note_pointer("tool_choice", pointer);
    let key = ["allowedFunctionNames", "allowed_function_names"].into_iter().find(|key| member(config, key).is_some());
    let named = key.and_then(|key| Some((key, member(config, key)?)));
    let named = named.map(|(key, named)| lifting.words(named, &format!("{pointer}/{key}")));
    let choice = match (string(config, "mode").as_deref(), named.as_deref()) {
        (Some("NONE"), _) => Some(ToolChoice::None),
        (Some("ANY"), Some([name])) => Some(ToolChoice::Tool(name.clone())),
        (Some("ANY"), None | Some([])) => Some(ToolChoice::Any),
        (Some("ANY"), Some(_)) => {
            let note = "any tool may be called, not these alone";
            lifting.note_lost("tools that must be called", pointer, Fate::Altered, note);
            Some(ToolChoice::Any)
        }
        (Some("AUTO" | "MODE_UNSPECIFIED"), _) => Some(ToolChoice::Auto),
        _ => None,
    };
    match &choice {
        Some(_) => lifting.note_unknown(config, &["mode", "allowedFunctionNames", "allowed_function_names"], pointer),
        None => lifting.note_dropped("setting `toolConfig.functionCallingConfig`", pointer, NOT_CARRIED),
    }
    lifting.conversation.settings.tool_choice = choice;
}

fn parts(lifting: &mut Lifting, content: Value<'_, '_>, pointer: &str, open: &mut Open) -> Vec<LiftedBlock> {
    lifting.content(member(content, "parts"), &format!("{pointer}/parts"), |lifting, value, pointer| {
        part(lifting, value, pointer, open)
    })
}

fn part(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str, open: &mut Open) -> LiftedBlock {
    let key = SEALS.iter().find(|key| member(value, key).is_some()).unwrap_or(&SEALS[0]);
    let seal = lifting.field(value, key, pointer).filter(|seal| seal != NO_SIGNATURE && !seal.is_empty());
    if let Some(said) = string(value, "text") {
        lifting.note_unknown(value, &[&["text", "thought"], SEALS].concat(), pointer);
        return words(lifting, value, said, seal, pointer);
    }
    let objects = |keys: &[&str]| member_of(value, keys).filter(|inner: &Value<'_, '_>| inner.is(Kind::Object));
    if let Some(call) = objects(&["functionCall", "function_call"]) {
        lifting.note_unknown(value, &[&["functionCall", "function_call", "thought"], SEALS].concat(), pointer);
        return function_call(lifting, call, seal, pointer, open);
    }
    let (block, known): (LiftedBlock, &[&str]) = if let Some(result) = objects(RESULT) {
        (self::result(lifting, result, pointer, open), RESULT)
    } else if let Some(says) = member_of(value, MEDIA).and_then(|data| media(lifting, data, pointer)) {
        (LiftedBlock::new(says, pointer), MEDIA)
    } else {
        return unknown(value, pointer);
    };
    if seal.is_some() {
        lifting.note_dropped("signature", pointer, "only Gemini's models read it");
    }
    lifting.note_unknown(value, &[known, SEALS].concat(), pointer);
    block
}

/// Whether a part holds more than a signature.
fn unknown(value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let mut kinds = value.members().map(|(key, _)| key.name()).filter(|key| !key.starts_with("thought"));
    match kinds.next() {
        Some(kind) if kind == "text" => unread(value, pointer),
        Some(kind) => opaque(value, &kind, true, pointer),
        None => opaque(value, "thoughtSignature", false, pointer),
    }
}

/// Text, which is reasoning when it is marked as a thought.
fn words(
    lifting: &mut Lifting,
    value: Value<'_, '_>,
    said: String,
    seal: Option<String>,
    pointer: &str,
) -> LiftedBlock {
    if lifting.switch(value, "thought", pointer) == Some(true) {
        let reasoning = Reasoning { text: said, seal, redacted: false, family: Family::Gemini };
        return LiftedBlock::new(Says::Reasoning(Box::new(reasoning)), pointer);
    }
    if seal.is_some() {
        lifting.note_dropped("signature of a text", pointer, "only Gemini's models read it");
    }
    text(said, pointer)
}

fn function_call(
    lifting: &mut Lifting,
    call: Value<'_, '_>,
    seal: Option<String>,
    pointer: &str,
    open: &mut Open,
) -> LiftedBlock {
    let within = format!("{pointer}/{}", call.key().name());
    lifting.note_unknown(call, &["id", "name", "args"], &within);
    let name = lifting.field(call, "name", &within).unwrap_or_default();
    let id = lifting.field(call, "id", &within).filter(|id| !id.is_empty());
    let is_nameless = id.is_none();
    let id = id.unwrap_or_else(|| {
        let id = MADE.made(&format!("{pointer}/{}", compact(call.raw())), |_| false);
        lifting.conversation.made.insert(id.clone(), format!("{name} at {pointer}"));
        id
    });
    open.push(&name, &id, is_nameless);
    let is_whole = member(call, "partialArgs").is_none() && !call.object().is_some_and(continues);
    let mut block = lifting.call(id, name, member(call, "args"), pointer);
    if let Says::Call(call) = &mut block.says {
        call.signature = seal;
        call.whole &= is_whole;
    }
    block
}

fn result(lifting: &mut Lifting, result: Value<'_, '_>, pointer: &str, open: &mut Open) -> LiftedBlock {
    let within = format!("{pointer}/{}", result.key().name());
    lifting.note_unknown(result, &["id", "name", "response", "parts"], &within);
    let name = lifting.field(result, "name", &within).unwrap_or_default();
    let own = lifting.field(result, "id", &within).filter(|id| !id.is_empty());
    let id = open.assigned.pop_front().flatten().or(own).unwrap_or_else(|| MADE.made(pointer, |_| false));
    let response = member(result, "response");
    let failed = response.is_some_and(|response| member(response, "error").is_some());
    let mut blocks: Vec<LiftedBlock> = response.map(|response| output(response, pointer)).into_iter().collect();
    let shown =
        lifting.content(member(result, "parts"), &format!("{within}/parts"), |lifting, part, pointer| match member_of(
            part, MEDIA,
        )
        .and_then(|data| media(lifting, data, pointer))
        {
            Some(says) => {
                lifting.note_unknown(part, MEDIA, pointer);
                LiftedBlock::new(says, pointer)
            }
            None => unknown(part, pointer),
        });
    blocks.extend(shown);
    LiftedBlock::new(Says::Result(Box::new(LiftedResult { id, name: Some(name), blocks, failed })), pointer)
}

/// Reads the output of a tool: the only text of the object, or the whole object.
fn output(response: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let mut members = response.members();
    let alone = match (members.next(), members.next()) {
        (Some((key, value)), None) if matches!(&*key.name(), "output" | "error" | "result") => value,
        _ => response,
    };
    match alone.str() {
        Some(said) => text(said, pointer),
        None => text(compact(alone.raw()), pointer),
    }
}

fn media(lifting: &mut Lifting, data: Value<'_, '_>, pointer: &str) -> Option<Says> {
    let mime = member_of(data, &["mimeType", "mime_type"]).and_then(Value::str).map(String::from);
    let uri = member_of(data, &["fileUri", "file_uri"]).and_then(Value::str);
    let (source, known): (_, &[&str]) = match (string(data, "data"), uri) {
        (Some(data), _) => (MediaSource::Data(data), &["data"]),
        (None, Some(uri)) => (MediaSource::Url(uri.into_owned()), &["fileUri", "file_uri"]),
        (None, None) => return None,
    };
    let kind = mime.as_deref().map_or(MediaKind::Document, MediaKind::of_mime);
    let name = member_of(data, &["displayName", "display_name"]).and_then(Value::str).map(String::from);
    let about = ["mimeType", "mime_type", "displayName", "display_name"];
    lifting.note_unknown(data, &[&about, known].concat(), &format!("{pointer}/{}", data.key().name()));
    Some(Says::Media(Box::new(Media { mime, name, ..Media::new(kind, source) })))
}
