//! Lifts a body into a conversation that other dialects can render.

use seamline_model::Role;
use seamline_model::conversation::{
    Family, Fate, LiftedBlock, LiftedCall, LiftedMessage, LiftedResult, Media, MediaKind, MediaSource, Reasoning,
    ResponseFormat, Says, Speaker, ToolChoice,
};

use super::item::{self, COMPUTER_RESULT, LOCAL_SHELL_RESULT, PATCH_RESULT, SHELL_RESULT};
use super::wire;
use crate::convert::lifting::{Form, Lifting, NOT_CARRIED, Usual, compact, member, opaque, string, text, unread};
use crate::convert::linked;
use crate::json::{Kind, Value};

/// The settings of the dialect.
pub(super) const FORM: Form = Form {
    wire: super::FORM,
    groups: &["reasoning", "text"],
    shared: super::render::SHARED,
    usual: &[
        ("model", Usual::Model),
        ("max_output_tokens", Usual::MaxTokens),
        ("temperature", Usual::Temperature),
        ("top_p", Usual::TopP),
        ("stream", Usual::Stream),
    ],
    snake_too: false,
    setting,
};

const ROLES: &[(&str, Speaker)] = &[
    ("user", Speaker::User),
    ("assistant", Speaker::Assistant),
    ("system", Speaker::System),
    ("developer", Speaker::System),
];

/// Items that are for the provider alone.
const UNSPOKEN: &[&str] = &["item_reference", "compaction", "compaction_trigger", "mcp_list_tools", "additional_tools"];

/// Members of every item; ids and states of items are the provider's own.
const ITEM: &[&str] = &["type", "id", "status"];

fn setting(lifting: &mut Lifting, path: &str, value: Value<'_, '_>, pointer: &str) -> bool {
    match path {
        "instructions" => {
            let blocks =
                lifting.content(Some(value), pointer, |_, value, pointer| opaque(value, "item", true, pointer));
            lifting.conversation.system.extend(blocks);
        }
        "tools" if value.is(Kind::Array) => tools(lifting, value),
        "tool_choice" => lifting.tool_choice(choice(value), pointer),
        "text.format" => {
            let format = format(lifting, value, pointer);
            lifting.response_format(format, pointer);
        }
        "include" if value.is(Kind::Array) => {
            for (index, element) in value.elements().enumerate() {
                let pointer = format!("{pointer}/{index}");
                match element.str().as_deref() {
                    Some(super::render::LOGPROBS) => lifting.other("logprobs", "true".to_owned(), &pointer),
                    _ => lifting.note_dropped("setting `include`", pointer, NOT_CARRIED),
                }
            }
        }
        _ => return false,
    }
    true
}

fn tools(lifting: &mut Lifting, value: Value<'_, '_>) {
    let is_unsaid = |tool: Value<'_, '_>| {
        member(tool, "type").is_some_and(|kind| kind.says("function")) && member(tool, "strict").is_none()
    };
    if let Some(first) = value.elements().position(is_unsaid) {
        let note = "it is the default of this dialect and of no other";
        lifting.note_lost("`strict` of tools", format!("/tools/{first}/strict"), Fate::Altered, note);
    }
    for (index, tool) in value.elements().enumerate() {
        let pointer = format!("/tools/{index}");
        match string(tool, "type").as_deref() {
            None | Some("function") => lifting.tool(tool, "parameters", &pointer),
            Some("custom") => lifting.free_tool(tool, &pointer),
            Some(name @ ("shell" | "local_shell" | "apply_patch" | "computer")) => lifting.typed_tool(name, &pointer),
            Some("computer_use_preview") => lifting.typed_tool("computer", &pointer),
            Some(kind) => lifting.note_dropped(format!("tool `{kind}`"), pointer, "the provider runs it itself"),
        }
    }
}

fn choice(value: Value<'_, '_>) -> Option<ToolChoice> {
    match value.str().as_deref() {
        Some("none") => Some(ToolChoice::None),
        Some("required") => Some(ToolChoice::Any),
        Some("auto") => Some(ToolChoice::Auto),
        Some(_) => None,
        None => string(value, "name").map(ToolChoice::Tool),
    }
}

fn format(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> Option<ResponseFormat> {
    let format = match string(value, "type")?.as_str() {
        "text" => ResponseFormat::Text,
        "json_object" => ResponseFormat::Json,
        "json_schema" => ResponseFormat::Schema(lifting.response_schema(value, pointer)),
        _ => return None,
    };
    let is_schema = matches!(format, ResponseFormat::Schema(_));
    let known: &[&str] = if is_schema { &["type", "name", "description", "schema", "strict"] } else { &["type"] };
    lifting.note_unknown(value, known, pointer);
    Some(format)
}

/// Reads one item.
pub(super) fn item(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    let (kind, known) = match (member(value, "type"), string(value, "type")) {
        (_, Some(name)) => (name.clone(), item::of(&name)),
        (None, None) => (String::new(), &item::MESSAGE),
        (Some(_), None) => (String::new(), item::of("")),
    };
    let members: &[&str] = match known.form {
        item::Form::Message => return message(lifting, value, pointer),
        item::Form::NamedCall(key) => {
            let block = named_call(lifting, value, key, pointer);
            with_assistant(lifting, of_type(as_far_as_it_came(block, value, key), known, value));
            &["call_id", "name", key]
        }
        item::Form::TypedCall(name) => {
            let block = typed_call(lifting, value, name, pointer);
            return with_assistant(lifting, of_type(as_far_as_it_came(block, value, ""), known, value));
        }
        item::Form::Output => {
            let block = output(lifting, value, &kind, pointer);
            lifting.push_result(block);
            &["call_id", "name", "output"]
        }
        item::Form::Reasoning => {
            let block = reasoning(lifting, value, pointer);
            with_assistant(lifting, block);
            &["summary", "content", "encrypted_content"]
        }
        item::Form::Opaque => {
            let spoken = !UNSPOKEN.contains(&kind.as_str());
            let block = opaque(value, &kind, spoken, pointer);
            return lifting.conversation.say(speaker(known.role), block);
        }
    };
    lifting.note_unknown(value, &[ITEM, members].concat(), pointer);
}

fn speaker(role: Role) -> Speaker {
    match role {
        Role::User | Role::Tool => Speaker::User,
        Role::System | Role::Developer => Speaker::System,
        _ => Speaker::Assistant,
    }
}

fn message(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) {
    lifting.note_unknown(value, &[ITEM, &["role", "content"]].concat(), pointer);
    let blocks = lifting.content(member(value, "content"), &format!("{pointer}/content"), block);
    let speaker = lifting.speaker(value, ROLES, pointer);
    // Reasoning is an item of its own, and goes before what came of it.
    let reasons = |message: &LiftedMessage| message.blocks.iter().all(|block| matches!(block.says, Says::Reasoning(_)));
    match lifting.conversation.messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some(last) if speaker == Speaker::Assistant && reasons(last) => last.blocks.extend(blocks),
        _ => lifting.push(speaker, blocks),
    }
}

/// Adds a block to the message of the assistant.
fn with_assistant(lifting: &mut Lifting, block: LiftedBlock) {
    lifting.conversation.say(Speaker::Assistant, block);
}

/// Reads a call, whose status says whether it is complete. A streamed call may still have the status `in_progress` from
/// its begin, when it had no input.
fn as_far_as_it_came(mut block: LiftedBlock, item: Value<'_, '_>, key: &str) -> LiftedBlock {
    let has_input = key.is_empty() || string(item, key).is_none_or(|input| !input.trim().is_empty());
    if let Says::Call(call) = &mut block.says {
        call.whole &= match string(item, "status").as_deref() {
            Some("in_progress") => has_input,
            Some(status) => !item::is_unfinished(status),
            None => true,
        };
    }
    block
}

/// Adds the type of its result to a call, and whether the provider runs it.
fn of_type(mut block: LiftedBlock, known: &item::Known, value: Value<'_, '_>) -> LiftedBlock {
    if let Says::Call(call) = &mut block.says {
        call.answered_by = known.answered_by();
        call.hosted = value.object().is_some_and(item::is_hosted);
        call.caller = super::result::caller_of(value).map(|caller| compact(caller.raw()));
    }
    block
}

fn named_call(lifting: &mut Lifting, value: Value<'_, '_>, key: &str, pointer: &str) -> LiftedBlock {
    let id = lifting.field(value, "call_id", pointer).unwrap_or_default();
    let name = lifting.field(value, "name", pointer).unwrap_or_default();
    if key == "input" {
        let input = lifting.field(value, key, pointer).unwrap_or_default();
        return Lifting::free_call(id, name, input, pointer);
    }
    lifting.call(id, name, member(value, key), pointer)
}

/// Reads a call of a tool that is known by its type. Its input is one object, or the other members of the item.
fn typed_call(lifting: &mut Lifting, value: Value<'_, '_>, name: &str, pointer: &str) -> LiftedBlock {
    let id = lifting.field(value, "call_id", pointer).unwrap_or_default();
    let is_own = |name: &str| ITEM.contains(&name) || name == "call_id";
    let given: Vec<_> = value.members().filter(|(key, value)| !is_own(&key.name()) && !value.is(Kind::Null)).collect();
    // The host that runs the computer must also see the pending safety checks.
    if let [(key, input)] = given.as_slice()
        && input.is(Kind::Object)
        && name != "computer"
        && matches!(&*key.name(), "action" | "operation")
    {
        return lifting.call(id, name.to_owned(), Some(*input), pointer);
    }
    let members: Vec<_> = given.iter().map(|(key, value)| format!("{}:{}", key.raw(), compact(value.raw()))).collect();
    let input = format!("{{{}}}", members.join(","));
    let name = name.to_owned();
    let call = LiftedCall::new(id, name, input);
    LiftedBlock::new(Says::Call(Box::new(call)), pointer)
}

fn output(lifting: &mut Lifting, value: Value<'_, '_>, kind: &str, pointer: &str) -> LiftedBlock {
    let mut id = lifting.field(value, "call_id", pointer);
    // OAR-5: the result of a local shell call names it under `id`.
    if id.is_none() && kind == LOCAL_SHELL_RESULT {
        id = lifting.field(value, "id", pointer);
    }
    let place = format!("{pointer}/output");
    let shown = member(value, "output").filter(|output| kind == COMPUTER_RESULT && output.is(Kind::Object));
    let listed = member(value, "output").filter(|_| shown.is_none());
    let mut blocks = lifting.content(listed, &place, |lifting, value, pointer| {
        // The output of a shell is an object for each command.
        if kind == SHELL_RESULT { text(compact(value.raw()), pointer) } else { block(lifting, value, pointer) }
    });
    blocks.extend(shown.map(|shown| screen(lifting, shown, &place)));
    let failed = kind == PATCH_RESULT && string(value, "status").as_deref() == Some("failed");
    let name = lifting.field(value, "name", pointer);
    Lifting::marked_result(LiftedResult { id: id.unwrap_or_default(), name, blocks, failed }, pointer)
}

/// Reads the screen of a computer, or the text in its place.
fn screen(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    match wire::shown_text(value) {
        Some(said) => text(said, pointer),
        None => media(lifting, value, ("image_url", MediaKind::Image), pointer),
    }
}

fn reasoning(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let mut texts = Vec::new();
    for key in ["summary", "content"] {
        let blocks = lifting.content(member(value, key), &format!("{pointer}/{key}"), |lifting, part, pointer| {
            let Some(said) = string(part, "text") else { return opaque(part, "part", true, pointer) };
            lifting.note_unknown(part, &["type", "text"], pointer);
            text(said, pointer)
        });
        texts.extend(blocks.into_iter().filter_map(|block| match block.says {
            Says::Text(text) => Some(text),
            Says::Opaque(opaque) => Some(opaque.raw),
            _ => None,
        }));
    }
    let seal = lifting.field(value, "encrypted_content", pointer);
    let text = texts.join("\n\n");
    LiftedBlock::new(
        Says::Reasoning(Box::new(Reasoning { text, seal, redacted: false, family: Family::OpenAi })),
        pointer,
    )
}

fn block(lifting: &mut Lifting, value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let kind = string(value, "type").unwrap_or_default();
    let (says, known): (_, &[&str]) = match kind.as_str() {
        "input_text" | "output_text" | "text" => (string(value, "text").map(Says::Text), &["text"]),
        // Text of another dialect, which has no types.
        "" if value.members().count() == 1 && string(value, "text").is_some() => {
            (string(value, "text").map(Says::Text), &["text"])
        }
        "refusal" => (string(value, "refusal").map(Says::Refusal), &["refusal"]),
        "input_image" => return media(lifting, value, ("image_url", MediaKind::Image), pointer),
        "input_file" => return media(lifting, value, ("file_data", MediaKind::Document), pointer),
        other => return opaque(value, other, true, pointer),
    };
    let Some(says) = says else { return unread(value, pointer) };
    lifting.note_unknown(value, &[&["type"], known].concat(), pointer);
    LiftedBlock::new(says, pointer)
}

fn media(lifting: &mut Lifting, value: Value<'_, '_>, (data, kind): (&str, MediaKind), pointer: &str) -> LiftedBlock {
    let found = [data, "file_url", "file_id"].into_iter().find_map(|key| Some((key, string(value, key)?)));
    let (media, key) = match found {
        Some((key @ "file_id", id)) => (Media::new(kind, MediaSource::File(Family::OpenAi, id)), key),
        Some((key @ "file_data", bytes)) if !bytes.starts_with("data:") => {
            (Media::new(kind, MediaSource::Data(bytes)), key)
        }
        Some((key, url)) => (linked(&url, kind), key),
        None => return opaque(value, &string(value, "type").unwrap_or_default(), true, pointer),
    };
    lifting.note_unknown(value, &["type", "filename", "detail", key], pointer);
    let (name, detail) = (lifting.field(value, "filename", pointer), lifting.field(value, "detail", pointer));
    LiftedBlock::new(Says::Media(Box::new(Media { name, detail, ..media })), pointer)
}
