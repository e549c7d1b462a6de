//! Renders a conversation of any dialect as a body.

use seamline_model::Role;
use seamline_model::conversation::{
    Family, Fate, LiftedBlock, LiftedCall, LiftedMessage, LiftedResult, Lost, Media, MediaSource, Other,
    ResponseFormat, Says, Speaker, ToolChoice, ToolDefinition,
};

use super::write;
use crate::convert::rendering::{numbers, only_text, strings};
use crate::convert::{Draft, Entries, Members, Rendered, Room, Target, mime, write_body};
use crate::json::{Json, list, member, object};

pub(super) const ROOM: Room = Room {
    alternates: false,
    // There is no step for the system.
    system_messages: false,
    assistant_media: true,
    result_media: true,
    refusals: false,
    failures: true,
    // Calls and results find each other by id alone, wherever they are.
    unique_ids: true,
    narrow: None,
    needs_tools: false,
    names_model: true,
    prompt: Some("system_instruction"),
    families: &[Family::Gemini],
    free_tools: |_| false,
    strict_tools: false,
    lacks: &[
        "answers",
        "frequency_penalty",
        "logprobs",
        "metadata",
        "parallel_calls",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "stream_options",
        "top_k",
        "top_logprobs",
        "user",
        "verbosity",
    ],
    media: |media, _| !matches!(media.source, MediaSource::File(..)),
    media_name: |_| None,
    media_detail: false,
};

/// Settings that are carried over unchanged.
pub(super) const SHARED: &[(&str, &str)] =
    &[("seed", "generation_config.seed"), ("effort", EFFORT), ("store", "store")];

/// The member that says how much the model thinks, and its values. Other dialects have more of them.
const EFFORT: &str = "generation_config.thinking_level";
const EFFORTS: &[&str] = &["\"minimal\"", "\"low\"", "\"medium\"", "\"high\""];

/// Writes the body for a conversation.
pub(super) fn render(mut draft: Draft, target: &Target<'_>) -> Rendered {
    keep_nothing(&mut draft);
    note_unsigned(&mut draft);
    let effort = draft.settings.others.get("effort");
    let is_known = effort.is_none_or(|effort| EFFORTS.contains(&effort.json.as_str()));
    let known = |path: &&(&str, &str)| is_known || path.1 != EFFORT;
    let shared = draft.shared(&SHARED.iter().filter(known).copied().collect::<Vec<_>>());
    let format = response_format(&mut draft);
    let settings = &draft.settings;
    let mut body: Members<'_> = Vec::new();
    body.extend(settings.model.as_ref().map(|model| member("model", model)));
    body.extend(settings.stream.map(|stream| ("stream", Json::Bool(stream))));
    let numbers_at =
        ["generation_config.max_output_tokens", "generation_config.temperature", "generation_config.top_p"];
    body.extend(numbers(settings, numbers_at));
    if !settings.stop.is_empty() {
        body.push(("generation_config.stop_sequences", strings(&settings.stop)));
    }
    body.extend(settings.tool_choice.as_ref().map(|choice| ("generation_config.tool_choice", tool_choice(choice))));
    body.extend(shared);
    body.extend(format.map(|format| ("response_format", format)));
    if !draft.system.is_empty() {
        body.push(member("system_instruction", draft.system.join("\n\n")));
    }
    if !settings.tools.is_empty() {
        body.push(("tools", list(settings.tools.iter().map(tool).collect())));
    }
    write_body(draft, body, Entries { key: "input", first: Vec::new(), write: steps }, target)
}

/// Turns storage off unless the source asks for it: most dialects store nothing by default.
fn keep_nothing(draft: &mut Draft) {
    if !draft.settings.others.contains_key("store") {
        let other = Other { json: "false".to_owned(), pointer: String::new() };
        draft.settings.others.insert("store", other);
        draft.note_added("setting `store`", "set to false, so that the provider does not store the response");
    }
}

/// Notes the calls that no signature leads to. No signature is known that the provider accepts in its place.
fn note_unsigned(draft: &mut Draft) {
    let leads = |block: &LiftedBlock| match &block.says {
        Says::Call(call) => Some((call.signature.is_some(), true)),
        Says::Reasoning(_) => Some((true, false)),
        _ => None,
    };
    // Only the first of parallel calls is signed.
    let is_unsigned = |message: &&LiftedMessage| matches!(message.blocks.iter().find_map(leads), Some((false, true)));
    let count = draft.messages.iter().filter(is_unsigned).count();
    if count > 0 {
        let what = if count == 1 { "signature of a call".to_owned() } else { format!("signatures of {count} calls") };
        let note = "none is known; newer models refuse calls of the current turn without one".to_owned();
        draft.lost.push(Lost { what, pointer: String::new(), fate: Fate::Missing, note });
    }
}

fn response_format(draft: &mut Draft) -> Option<Json<'static>> {
    let (mime, schema) = match draft.format()? {
        ResponseFormat::Text => ("text/plain", None),
        ResponseFormat::Json => ("application/json", None),
        ResponseFormat::Schema(schema) => {
            if schema.name.is_some() || schema.description.is_some() {
                draft.note_altered("format", "the schema is kept; its name and description are dropped");
            }
            ("application/json", schema.schema)
        }
    };
    let mut members = vec![member("type", "text"), member("mime_type", mime)];
    members.extend(schema.map(|schema| ("schema", Json::Written(schema))));
    Some(Json::Object(members))
}

fn tool(tool: &ToolDefinition) -> Json<'static> {
    let mut members = vec![member("type", "function"), member("name", &tool.name)];
    members.extend(tool.description.as_ref().map(|text| member("description", text)));
    members.extend(tool.schema.as_ref().map(|schema| ("parameters", Json::Written(schema.clone()))));
    Json::Object(members)
}

fn tool_choice(choice: &ToolChoice) -> Json<'static> {
    match choice {
        ToolChoice::Auto => Json::Text("auto".to_owned()),
        ToolChoice::None => Json::Text("none".to_owned()),
        ToolChoice::Any => Json::Text("any".to_owned()),
        ToolChoice::Tool(name) => {
            let allowed = object([member("mode", "any"), ("tools", strings(std::slice::from_ref(name)))]);
            object([("allowed_tools", allowed)])
        }
    }
}

/// Writes the steps of a message: neighbouring texts and media are one step; each call and result is one.
fn steps(message: &LiftedMessage) -> Vec<Json<'static>> {
    let is_said = |block: &LiftedBlock| matches!(block.says, Says::Text(_) | Says::Media(_) | Says::Refusal(_));
    let stretches = message.blocks.chunk_by(|one, other| is_said(one) && is_said(other));
    stretches.flat_map(|blocks| step(message.speaker, blocks)).collect()
}

fn step(speaker: Speaker, blocks: &[LiftedBlock]) -> Vec<Json<'static>> {
    match blocks.first().map(|block| &block.says) {
        Some(Says::Call(call)) => function_call(call),
        Some(Says::Result(result)) => vec![function_result(result)],
        Some(Says::Reasoning(thought)) => {
            vec![write::thought(thought.seal.as_deref().unwrap_or_default(), &thought.text)]
        }
        Some(Says::Text(_) | Says::Media(_) | Says::Refusal(_)) => {
            let role = if speaker == Speaker::Assistant { Role::Assistant } else { Role::User };
            vec![write::speech(role, blocks.iter().filter_map(content).collect())]
        }
        Some(Says::Opaque(_)) | None => Vec::new(),
    }
}

/// Writes a call after the thought that has its signature.
fn function_call(call: &LiftedCall) -> Vec<Json<'static>> {
    let thought = call.signature.as_deref().map(|seal| write::thought(seal, ""));
    let call = write::call(&call.id, &call.name, Json::Written(call.input.clone()));
    thought.into_iter().chain([call]).collect()
}

fn function_result(result: &LiftedResult) -> Json<'static> {
    let output = match (only_text(&result.blocks), result.blocks.as_slice()) {
        (Some(text), _) => Json::Text(text.to_owned()),
        (None, []) => Json::Text(String::new()),
        (None, blocks) => list(blocks.iter().filter_map(content).collect()),
    };
    write::result(&result.id, result.name.as_deref().unwrap_or_default(), output, result.failed)
}

fn content(block: &LiftedBlock) -> Option<Json<'static>> {
    match &block.says {
        Says::Text(text) | Says::Refusal(text) => Some(write::text(Json::Text(text.clone()))),
        Says::Media(media) => Some(shown(media)),
        _ => None,
    }
}

fn shown(media: &Media) -> Json<'static> {
    let place = match &media.source {
        MediaSource::Data(data) => member("data", data),
        MediaSource::Url(uri) | MediaSource::File(_, uri) => member("uri", uri),
    };
    object([member("type", media.kind.as_str()), member("mime_type", mime(media)), place])
}
