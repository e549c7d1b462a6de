//! Lifts a body into a conversation that other dialects can render.

use seamline_model::conversation::{
    Conversation, Family, Fate, LiftedBlock, LiftedResult, Media, MediaKind, MediaSource, Reasoning, ResponseFormat,
    ResponseSchema, Says, Speaker, ToolChoice,
};

use super::step::{self, Form as Shape};
use super::wire::{CALL_ID, INPUT, OUTPUT, RESULT_ID};
use crate::Error;
use crate::convert::lifting::{Form, Lifting, NOT_CARRIED, Usual, compact, member, opaque, string, text, unread};
use crate::json::{Document, Kind, Value};

/// The settings of the dialect.
const FORM: Form = Form {
    wire: super::FORM,
    groups: &["generation_config"],
    shared: super::render::SHARED,
    usual: &[
        ("model", Usual::Model),
        ("stream", Usual::Stream),
        ("generation_config.max_output_tokens", Usual::MaxTokens),
        ("generation_config.temperature", Usual::Temperature),
        ("generation_config.top_p", Usual::TopP),
        ("generation_config.stop_sequences", Usual::Stop),
    ],
    snake_too: false,
    setting,
};

const ROLES: &[(&str, Speaker)] = &[("user", Speaker::User), ("model", Speaker::Assistant)];

/// Lifts a body.
///
/// # Errors
///
/// When the body is not JSON or not this dialect's envelope.
pub(super) fn lift(body: &[u8]) -> Result<Conversation, Error> {
    let Some(listed) = listed(body) else { return Lifting::run(body, &FORM, element) };
    let mut conversation = Lifting::run(&listed, &FORM, element)?;
    let blocks = conversation.messages.iter_mut().flat_map(|message| &mut message.blocks);
    let pointers = blocks.map(|block| &mut block.pointer);
    for pointer in pointers.chain(conversation.left.iter_mut().map(|lost| &mut lost.pointer)) {
        if let Some(rest) = pointer.strip_prefix("/input/0") {
            *pointer = format!("/input{rest}");
        }
    }
    Ok(conversation)
}

/// Writes an input that is one content as a list with it.
fn listed(body: &[u8]) -> Option<Vec<u8>> {
    let document = Document::read(std::str::from_utf8(body).ok()?).ok()?;
    let input = member(document.root(), FORM.wire.list).filter(|input| input.is(Kind::Object))?;
    let span = input.span().range();
    Some([body.get(..span.start)?, b"[", body.get(span.clone())?, b"]", body.get(span.end..)?].concat())
}

fn setting(lifting: &mut Lifting, path: &str, value: Value<'_, '_>, pointer: &str) -> bool {
    match path {
        "system_instruction" => {
            let blocks = lifting.content(Some(value), pointer, content);
            lifting.conversation.system.extend(blocks);
        }
        "tools" if value.is(Kind::Array) => tools(lifting, value),
        "generation_config.tool_choice" => {
            let choice = choice(lifting, value, pointer);
            lifting.tool_choice(choice, pointer);
        }
        "response_format" => {
            let format = format(lifting, value, pointer);
            lifting.response_format(format, pointer);
        }
        _ => return false,
    }
    true
}

fn tools(lifting: &mut Lifting, value: Value<'_, '_>) {
    for (index, tool) in value.elements().enumerate() {
        let pointer = format!("/tools/{index}");
        match string(tool, "type").as_deref() {
            None | Some("function") => lifting.tool(tool, "parameters", &pointer),
            Some(kind) => lifting.note_dropped(format!("tool `{kind}`"), pointer, "the provider runs it itself"),
        }
    }
}

/// Reads which tools may be called: a mode, or the names of some of them with a mode.
fn choice(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Option<ToolChoice> {
    let allowed = member(value, "allowed_tools");
    let mode = allowed.map_or_else(|| value.str().map(String::from), |allowed| string(allowed, "mode"));
    let names = allowed.and_then(|allowed| member(allowed, "tools"));
    let names = names.map(|names| lifting.words(names, &format!("{pointer}/allowed_tools/tools"))).unwrap_or_default();
    match (mode.as_deref(), names.as_slice()) {
        (Some("none"), _) => Some(ToolChoice::None),
        (Some("any"), [name]) => Some(ToolChoice::Tool(name.clone())),
        (Some("any"), []) => Some(ToolChoice::Any),
        (Some("auto"), []) => Some(ToolChoice::Auto),
        _ => None,
    }
}

/// Reads the demanded format of a response. Media have formats of their own, which no other dialect has.
fn format(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Option<ResponseFormat> {
    let (value, pointer) = match value.elements().collect::<Vec<_>>()[..] {
        [only] => (only, &*format!("{pointer}/0")),
        _ => (value, pointer),
    };
    if string(value, "type")? != "text" {
        return None;
    }
    lifting.note_unknown(value, &["type", "mime_type", "schema"], pointer);
    let schema = member(value, "schema").map(|schema| compact(schema.raw()));
    match (lifting.field(value, "mime_type", pointer).as_deref(), schema) {
        (None | Some("application/json"), Some(schema)) => {
            Some(ResponseFormat::Schema(ResponseSchema { schema: Some(schema), ..ResponseSchema::default() }))
        }
        (Some("application/json"), None) => Some(ResponseFormat::Json),
        (None | Some("text/plain"), None) => Some(ResponseFormat::Text),
        _ => None,
    }
}

/// Reads one element of the input.
fn element(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    let kind = string(value, "type");
    let shape = kind.as_deref().map_or(Shape::Turn, |kind| step::of(kind).form);
    let block = match shape {
        Shape::Speech if kind.as_deref() == Some(step::USER_INPUT) => {
            return speech(lifting, Speaker::User, value, pointer);
        }
        Shape::Speech => return speech(lifting, Speaker::Assistant, value, pointer),
        Shape::Turn => {
            let speaker = lifting.speaker(value, ROLES, pointer);
            return speech(lifting, speaker, value, pointer);
        }
        Shape::Content => {
            let block = content(lifting, value, pointer);
            return lifting.conversation.say(Speaker::User, block);
        }
        Shape::Result => {
            let block = result(lifting, value, pointer);
            return lifting.push_result(block);
        }
        Shape::Call => {
            let seal = taken_seal(lifting);
            call(lifting, value, seal, pointer)
        }
        Shape::Thought => thought(lifting, value, pointer),
        Shape::Opaque => opaque(value, kind.as_deref().unwrap_or_default(), true, pointer),
    };
    lifting.conversation.say(Speaker::Assistant, block);
}

fn speech(lifting: &mut Lifting, speaker: Speaker, value: Value<'_, '_>, pointer: &str) {
    lifting.note_unknown(value, &["type", "role", "content"], pointer);
    let blocks = lifting.content(member(value, "content"), &format!("{pointer}/content"), content);
    if speaker == Speaker::Assistant {
        for block in blocks {
            lifting.conversation.say(speaker, block);
        }
    } else {
        lifting.push(speaker, blocks);
    }
}

/// Takes the signature of a thought without words right before a call. In other dialects of the same models the call
/// itself has it.
fn taken_seal(lifting: &mut Lifting) -> Option<String> {
    let last = lifting.conversation.messages.last_mut().filter(|last| last.speaker == Speaker::Assistant)?;
    let is_bare = |block: &mut LiftedBlock| matches!(&block.says, Says::Reasoning(thought) if thought.text.is_empty());
    let thought = last.blocks.pop_if(is_bare)?;
    let note = "its signature is that of the call after it";
    lifting.note_lost("thought without words", thought.pointer, Fate::Moved, note);
    match thought.says {
        Says::Reasoning(thought) => thought.seal,
        _ => None,
    }
}

fn call(lifting: &mut Lifting, value: Value<'_, '_>, seal: Option<String>, pointer: &str) -> LiftedBlock {
    lifting.note_unknown(value, &["type", CALL_ID, "name", INPUT, "signature"], pointer);
    let id = lifting.field(value, CALL_ID, pointer).unwrap_or_default();
    let name = lifting.field(value, "name", pointer).unwrap_or_default();
    let own = lifting.field(value, "signature", pointer).filter(|seal| !seal.is_empty());
    let mut block = lifting.call(id, name, member(value, INPUT), pointer);
    if let Says::Call(call) = &mut block.says {
        call.signature = own.or(seal);
    }
    block
}

fn result(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    lifting.note_unknown(value, &["type", RESULT_ID, "name", OUTPUT, "is_error"], pointer);
    let id = lifting.field(value, RESULT_ID, pointer).unwrap_or_default();
    let name = lifting.field(value, "name", pointer);
    let failed = lifting.switch(value, "is_error", pointer) == Some(true);
    let place = format!("{pointer}/{OUTPUT}");
    let output = member(value, OUTPUT);
    let blocks = match output.filter(|output| output.is(Kind::Object)) {
        Some(object) => vec![text(compact(object.raw()), &place)],
        None => lifting.content(output, &place, content),
    };
    LiftedBlock::new(Says::Result(Box::new(LiftedResult { id, name, blocks, failed })), pointer)
}

fn thought(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    lifting.note_unknown(value, &["type", "signature", "summary"], pointer);
    let seal = lifting.field(value, "signature", pointer).filter(|seal| !seal.is_empty());
    let summary = lifting.content(member(value, "summary"), &format!("{pointer}/summary"), content);
    let mut lines = Vec::new();
    for block in summary {
        match block.says {
            Says::Text(said) => lines.push(said),
            Says::Opaque(opaque) => lines.push(opaque.raw),
            _ => lifting.note_dropped("media in reasoning", block.pointer, NOT_CARRIED),
        }
    }
    let reasoning = Reasoning { text: lines.join("\n\n"), seal, redacted: false, family: Family::Gemini };
    LiftedBlock::new(Says::Reasoning(Box::new(reasoning)), pointer)
}

/// Reads one content. Calls and results are contents in earlier revisions of the API.
fn content(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let kind = string(value, "type").unwrap_or_default();
    let kind = match kind.as_str() {
        "text" => {
            let Some(said) = string(value, "text") else { return unread(value, pointer) };
            lifting.note_unknown(value, &["type", "text"], pointer);
            return text(said, pointer);
        }
        step::FUNCTION_CALL => return call(lifting, value, None, pointer),
        step::FUNCTION_RESULT => return result(lifting, value, pointer),
        "image" => MediaKind::Image,
        "audio" => MediaKind::Audio,
        "video" => MediaKind::Video,
        "document" => MediaKind::Document,
        other => return opaque(value, other, true, pointer),
    };
    media(lifting, value, kind, pointer).unwrap_or_else(|| opaque(value, kind.as_str(), true, pointer))
}

fn media(lifting: &mut Lifting, value: Value<'_, '_>, kind: MediaKind, pointer: &str) -> Option<LiftedBlock> {
    let (source, key) = match (string(value, "data"), string(value, "uri")) {
        (Some(data), _) => (MediaSource::Data(data), "data"),
        (None, Some(uri)) => (MediaSource::Url(uri), "uri"),
        (None, None) => return None,
    };
    lifting.note_unknown(value, &["type", "mime_type", key], pointer);
    let mime = lifting.field(value, "mime_type", pointer);
    Some(LiftedBlock::new(Says::Media(Box::new(Media { mime, ..Media::new(kind, source) })), pointer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifted(input: &str) -> Conversation {
        lift(format!(r#"{{"model":"gemini-4-pro","input":{input}}}"#).as_bytes()).unwrap()
    }

    #[test]
    fn a_thought_without_words_signs_the_call_after_it() {
        let call = r#"{"type":"function_call","id":"a","name":"f","arguments":{}}"#;
        let seal = |input: &str| lifted(input).calls().next().and_then(|call| call.signature.clone());
        let signed = format!(r#"[{{"type":"thought","signature":"c2ln"}},{call}]"#);
        assert_eq!(seal(&signed).as_deref(), Some("c2ln"));
        assert_eq!(lifted(&signed).messages.iter().map(|message| message.blocks.len()).sum::<usize>(), 1);
        let wordy = r#"{"type":"thought","signature":"c2ln","summary":[{"type":"text","text":"hm"}]}"#;
        let conversation = lifted(&format!("[{wordy},{call}]"));
        let says: Vec<_> = conversation.messages[0].blocks.iter().map(|block| &block.says).collect();
        assert!(matches!(&says[..], [Says::Reasoning(_), Says::Call(call)] if call.signature.is_none()), "{says:?}");
    }

    #[test]
    fn an_object_that_a_tool_returned_is_kept_as_its_text() {
        let conversation = lifted(r#"[{"type":"function_result","call_id":"a","result":{"t": 20}}]"#);
        let said = conversation.results().next().map(|result| result.blocks[0].says.clone());
        assert_eq!(said, Some(Says::Text(r#"{"t":20}"#.to_owned())));
    }

    #[test]
    fn an_input_that_is_one_content_has_its_own_place() {
        let conversation = lifted(r#"{"type":"text","text":"hi","annotations":[1]}"#);
        assert_eq!(conversation.messages[0].blocks[0].pointer, "/input");
        assert_eq!(conversation.left[0].pointer, "/input/annotations");
    }
}
