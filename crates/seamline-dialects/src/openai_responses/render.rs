//! Renders a conversation of any dialect as a body.

use std::collections::HashSet;

use seamline_model::conversation::{
    Family, Grammar, LiftedBlock, LiftedCall, LiftedMessage, LiftedResult, Media, MediaKind, MediaSource, Other,
    Reasoning, ResponseFormat, Says, Speaker, ToolChoice, ToolDefinition,
};

use super::item::{CUSTOM_RESULT, FUNCTION_RESULT};
use super::result;
use super::rewrite::{CUSTOM_CALL, FUNCTION_CALL, written_call};
use crate::convert::rendering::{numbers, only_text, strings, typed_text};
use crate::convert::{
    Draft, Entries, Members, Rendered, Room, Target, data_url, file_name, schema_members, write_body,
};
use crate::json::{Json, list, member, object};

pub(super) const ROOM: Room = Room {
    alternates: false,
    system_messages: true,
    assistant_media: false,
    result_media: true,
    refusals: true,
    failures: false,
    // Calls and outputs find each other by id alone, at any place.
    unique_ids: true,
    narrow: None,
    needs_tools: false,
    names_model: true,
    prompt: Some("instructions"),
    families: &[Family::OpenAi],
    free_tools: |_| true,
    strict_tools: true,
    lacks: &["answers", "frequency_penalty", "presence_penalty", "seed", "top_k"],
    media: is_shown,
    media_name: |media| {
        let is_written = media.kind == MediaKind::Document && !matches!(media.source, MediaSource::File(..));
        is_written.then(|| file_name(media))
    },
    media_detail: true,
};

/// Settings that are carried over unchanged.
pub(super) const SHARED: &[(&str, &str)] = &[
    ("parallel_calls", "parallel_tool_calls"),
    ("effort", "reasoning.effort"),
    ("verbosity", "text.verbosity"),
    ("top_logprobs", "top_logprobs"),
    ("metadata", "metadata"),
    ("store", "store"),
    ("service_tier", "service_tier"),
    ("user", "user"),
    ("safety_identifier", "safety_identifier"),
    ("prompt_cache_key", "prompt_cache_key"),
    ("prompt_cache_retention", "prompt_cache_retention"),
];

/// The value of `include` for log probabilities.
pub(super) const LOGPROBS: &str = "message.output_text.logprobs";

/// Writes the body for a conversation.
pub(super) fn render(mut draft: Draft, target: &Target<'_>) -> Rendered {
    if !draft.settings.stop.is_empty() {
        draft.note_dropped("stop", "the dialect has no stop sequences");
    }
    let include = included(&mut draft);
    keep_nothing(&mut draft);
    let (shared, format) = (draft.shared(SHARED), response_format(&mut draft));
    let settings = &draft.settings;
    let mut body: Members<'_> = Vec::new();
    body.extend(settings.model.as_ref().map(|model| member("model", model)));
    body.extend(numbers(settings, ["max_output_tokens", "temperature", "top_p"]));
    body.extend(settings.stream.map(|stream| ("stream", Json::Bool(stream))));
    body.extend(shared);
    body.extend(format.map(|format| ("text.format", format)));
    body.extend(include.map(|include| ("include", include)));
    if !draft.system.is_empty() {
        body.push(member("instructions", draft.system.join("\n\n")));
    }
    if !settings.tools.is_empty() {
        body.push(("tools", list(settings.tools.iter().map(tool).collect())));
    }
    body.extend(settings.tool_choice.as_ref().map(|choice| ("tool_choice", tool_choice(choice, &settings.tools))));
    let free = free_calls(&draft.messages);
    let write = |message: &LiftedMessage| items(message, &free);
    write_body(draft, body, Entries { key: "input", first: Vec::new(), write }, target)
}

/// Includes log probabilities if the source asks for them.
fn included(draft: &mut Draft) -> Option<Json<'static>> {
    let wanted = match draft.settings.others.get("logprobs")?.json.as_str() {
        "true" => true,
        "false" => false,
        _ => return None,
    };
    draft.settings.others.remove("logprobs");
    wanted.then(|| strings(&[LOGPROBS.to_owned()]))
}

/// Turns storage off unless the source asks for it: only this dialect stores responses by default.
fn keep_nothing(draft: &mut Draft) {
    if !draft.settings.others.contains_key("store") {
        let other = Other { json: "false".to_owned(), pointer: String::new() };
        draft.settings.others.insert("store", other);
        draft.note_added("setting `store`", "set to false, so that the provider does not store the response");
    }
}

fn response_format(draft: &mut Draft) -> Option<Json<'static>> {
    Some(match draft.format()? {
        ResponseFormat::Text => object([member("type", "text")]),
        ResponseFormat::Json => object([member("type", "json_object")]),
        ResponseFormat::Schema(schema) => {
            let mut members = vec![member("type", "json_schema")];
            members.extend(schema_members(draft, schema));
            Json::Object(members)
        }
    })
}

/// Finds the ids of calls whose input is text. Their results have another type.
fn free_calls(messages: &[LiftedMessage]) -> HashSet<String> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter_map(|block| if let Says::Call(call) = &block.says { Some(call) } else { None });
    calls.filter(|call| call.free.is_some()).map(|call| call.id.clone()).collect()
}

fn is_shown(media: &Media, _: &Target<'_>) -> bool {
    let is_kind = matches!(media.kind, MediaKind::Image | MediaKind::Document);
    is_kind && !matches!(media.source, MediaSource::File(Family::Claude | Family::Gemini | Family::Plain, _))
}

fn tool(tool: &ToolDefinition) -> Json<'static> {
    let kind = if tool.free.is_some() { "custom" } else { "function" };
    let mut members = vec![member("type", kind), member("name", &tool.name)];
    members.extend(tool.description.as_ref().map(|text| member("description", text)));
    if let Some(free) = &tool.free {
        members.extend(free.grammar.as_ref().map(|grammar| ("format", format_of(grammar))));
        return Json::Object(members);
    }
    let any = || "{\"type\":\"object\",\"properties\":{}}".to_owned();
    members.push(("parameters", Json::Written(tool.schema.clone().unwrap_or_else(any))));
    // Without it schemas are held to a stricter form than other dialects ask for.
    members.push(("strict", Json::Bool(tool.strict.unwrap_or(false))));
    Json::Object(members)
}

fn format_of(grammar: &Grammar) -> Json<'static> {
    object([member("type", "grammar"), member("syntax", &grammar.syntax), member("definition", &grammar.definition)])
}

fn tool_choice(choice: &ToolChoice, tools: &[ToolDefinition]) -> Json<'static> {
    match choice {
        ToolChoice::Auto => Json::Text("auto".to_owned()),
        ToolChoice::None => Json::Text("none".to_owned()),
        ToolChoice::Any => Json::Text("required".to_owned()),
        ToolChoice::Tool(name) => {
            let is_free = tools.iter().any(|tool| tool.name == *name && tool.free.is_some());
            object([member("type", if is_free { "custom" } else { "function" }), member("name", name)])
        }
    }
}

/// Writes the items of a message: neighbouring texts and media are one item; each call and result is one.
fn items(message: &LiftedMessage, free: &HashSet<String>) -> Vec<Json<'static>> {
    let is_said = |block: &LiftedBlock| matches!(block.says, Says::Text(_) | Says::Media(_) | Says::Refusal(_));
    let stretches = message.blocks.chunk_by(|one, other| is_said(one) && is_said(other));
    stretches.filter_map(|blocks| item(message.speaker, blocks, free)).collect()
}

fn item(speaker: Speaker, blocks: &[LiftedBlock], free: &HashSet<String>) -> Option<Json<'static>> {
    match &blocks.first()?.says {
        Says::Call(call) => Some(function_call(call)),
        Says::Result(result) => Some(output(result, free.contains(&result.id))),
        Says::Reasoning(reasoning) => Some(thought(reasoning)),
        Says::Text(_) | Says::Media(_) | Says::Refusal(_) => Some(said(speaker, blocks)),
        Says::Opaque(_) => None,
    }
}

fn said(speaker: Speaker, blocks: &[LiftedBlock]) -> Json<'static> {
    let (role, kind) = match speaker {
        Speaker::Assistant => ("assistant", "output_text"),
        Speaker::System => ("system", "input_text"),
        Speaker::User => ("user", "input_text"),
    };
    let content = match only_text(blocks) {
        Some(text) => Json::Text(text.to_owned()),
        None => list(blocks.iter().filter_map(|block| part(block, kind)).collect()),
    };
    object([member("type", "message"), member("role", role), ("content", content)])
}

fn part(block: &LiftedBlock, kind: &'static str) -> Option<Json<'static>> {
    match &block.says {
        Says::Text(text) => Some(typed_text(kind, text)),
        Says::Refusal(text) => Some(object([member("type", "refusal"), member("refusal", text)])),
        Says::Media(media) => shown(media),
        _ => None,
    }
}

fn function_call(call: &LiftedCall) -> Json<'static> {
    match &call.free {
        Some(text) => written_call(CUSTOM_CALL, &call.id, &call.name, text),
        None => written_call(FUNCTION_CALL, &call.id, &call.name, &call.input),
    }
}

fn output(result: &LiftedResult, is_free: bool) -> Json<'static> {
    let output = match (only_text(&result.blocks), result.blocks.as_slice()) {
        (Some(text), _) => Json::Text(text.to_owned()),
        (None, []) => Json::Text(String::new()),
        (None, blocks) => list(blocks.iter().filter_map(|block| part(block, "input_text")).collect()),
    };
    let kind = if is_free { CUSTOM_RESULT } else { FUNCTION_RESULT };
    result::plain(kind, &result.id, output)
}

/// Writes reasoning. OAR-8: encrypted reasoning has no id.
fn thought(reasoning: &Reasoning) -> Json<'static> {
    let summary =
        if reasoning.text.is_empty() { Vec::new() } else { vec![typed_text("summary_text", &reasoning.text)] };
    let seal = reasoning.seal.clone().unwrap_or_default();
    object([member("type", "reasoning"), ("summary", list(summary)), member("encrypted_content", seal)])
}

fn shown(media: &Media) -> Option<Json<'static>> {
    let is_image = media.kind == MediaKind::Image;
    let mut members = vec![member("type", if is_image { "input_image" } else { "input_file" })];
    if !is_image && (media.name.is_some() || matches!(media.source, MediaSource::Data(_))) {
        members.extend((ROOM.media_name)(media).map(|name| member("filename", name)));
    }
    members.push(match (&media.source, is_image) {
        (MediaSource::File(_, id), _) => member("file_id", id),
        (_, true) => member("image_url", data_url(media)?),
        (MediaSource::Url(url), false) => member("file_url", url),
        (MediaSource::Data(_), false) => member("file_data", data_url(media)?),
    });
    members.extend(media.detail.as_ref().filter(|_| is_image).map(|detail| member("detail", detail)));
    Some(Json::Object(members))
}
