//! Renders a conversation of any dialect as a body.

use seamline_model::conversation::{
    Family, LiftedBlock, LiftedMessage, Media, MediaSource, ResponseFormat, Says, Speaker, ToolChoice, ToolDefinition,
};
use seamline_model::{Alphabet, IdDemand, NameDemand};

use super::CONSTRAINTS;
use super::write::Writer;
use crate::blocks;
use crate::convert::rendering::{numbers, strings};
use crate::convert::{Draft, Entries, Members, Rendered, Room, Target, write_body};
use crate::json::{Json, list, member, object};
use crate::signing::NO_SIGNATURE;

pub(super) const ROOM: Room = Room {
    // GEM-3: a content with calls follows one of the user.
    alternates: true,
    // GEM-6.
    system_messages: false,
    assistant_media: true,
    // Only the newest models take media inside a result; beside it every one does.
    result_media: false,
    refusals: false,
    failures: true,
    unique_ids: false,
    // GEM-8: models of other makers that speak the same dialect want these.
    narrow: Some((
        IdDemand { demanded: true, alphabet: Alphabet::Word, length_max: 64, ..CONSTRAINTS.call_id },
        NameDemand { also: "", length_max: 64, ..CONSTRAINTS.tool_name },
    )),
    needs_tools: false,
    names_model: false,
    prompt: Some("systemInstruction"),
    families: &[Family::Gemini],
    free_tools: |_| false,
    strict_tools: false,
    lacks: &[
        "metadata",
        "parallel_calls",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "store",
        "stream_options",
        "user",
        "verbosity",
    ],
    media: is_shown,
    media_name: |_| None,
    media_detail: false,
};

/// Settings that are carried over unchanged.
pub(super) const SHARED: &[(&str, &str)] = &[
    ("seed", "generationConfig.seed"),
    ("top_k", "generationConfig.topK"),
    ("presence_penalty", "generationConfig.presencePenalty"),
    ("frequency_penalty", "generationConfig.frequencyPenalty"),
    ("answers", "generationConfig.candidateCount"),
    ("logprobs", "generationConfig.responseLogprobs"),
    ("top_logprobs", "generationConfig.logprobs"),
];

/// The text of the user before a call that would be the first content, which GEM-3 forbids.
const START: &str = seamline_model::START;

/// Writes the body for a conversation.
pub(super) fn render(mut draft: Draft, target: &Target<'_>) -> Rendered {
    start_with_user(&mut draft);
    note_unsigned(&mut draft);
    let (shared, format) = (draft.shared(SHARED), response_format(&mut draft));
    let settings = &draft.settings;
    let mut body: Members<'_> = Vec::new();
    if !draft.system.is_empty() {
        let parts = draft.system.iter().map(|text| object([member("text", text)])).collect();
        body.push(("systemInstruction", object([("parts", list(parts))])));
    }
    let numbers_at = ["generationConfig.maxOutputTokens", "generationConfig.temperature", "generationConfig.topP"];
    body.extend(numbers(settings, numbers_at));
    if !settings.stop.is_empty() {
        body.push(("generationConfig.stopSequences", strings(&settings.stop)));
    }
    body.extend(shared);
    body.extend(format);
    if !settings.tools.is_empty() {
        let declared = list(settings.tools.iter().map(tool).collect());
        body.push(("tools", list(vec![object([("functionDeclarations", declared)])])));
    }
    if let Some(choice) = &settings.tool_choice {
        body.push(("toolConfig", object([("functionCallingConfig", tool_choice(choice))])));
    }
    let write = |message: &LiftedMessage| [blocks::said(&Writer, message)];
    write_body(draft, body, Entries { key: "contents", first: Vec::new(), write }, target)
}

fn start_with_user(draft: &mut Draft) {
    let is_call = |block: &LiftedBlock| matches!(block.says, Says::Call(_));
    let first = draft.messages.first();
    if first.is_some_and(|first| first.speaker == Speaker::Assistant && first.blocks.iter().any(is_call)) {
        let block = LiftedBlock::new(Says::Text(START.to_owned()), "");
        draft.messages.insert(0, LiftedMessage { speaker: Speaker::User, blocks: vec![block] });
        draft.note_added("message of the user", "a call may not come first");
    }
}

/// Notes the synthetic signatures. Only the first of parallel calls has one.
fn note_unsigned(draft: &mut Draft) {
    let first_call = |message: &LiftedMessage| {
        message
            .blocks
            .iter()
            .find_map(|block| if let Says::Call(call) = &block.says { Some(call) } else { None })
            .is_some_and(|call| call.signature.is_none())
    };
    let count = draft.messages.iter().filter(|message| first_call(message)).count();
    if count > 0 {
        let what = if count == 1 { "signature of a call".to_owned() } else { format!("signatures of {count} calls") };
        draft.note_added(&what, &format!("none is known; the documented `{NO_SIGNATURE}` replaces it"));
    }
}

fn response_format(draft: &mut Draft) -> Members<'static> {
    const TYPE: &str = "generationConfig.responseMimeType";
    match draft.format() {
        None => Vec::new(),
        Some(ResponseFormat::Text) => vec![member(TYPE, "text/plain")],
        Some(ResponseFormat::Json) => vec![member(TYPE, "application/json")],
        Some(ResponseFormat::Schema(schema)) => {
            if schema.name.is_some() || schema.description.is_some() {
                draft.note_altered("format", "the schema is kept; its name and description are dropped");
            }
            let json = schema.schema.map(|schema| ("generationConfig.responseJsonSchema", Json::Written(schema)));
            std::iter::once(member(TYPE, "application/json")).chain(json).collect()
        }
    }
}

/// Whether media can be written: data, or a URL that the provider fetches.
fn is_shown(media: &Media, _: &Target<'_>) -> bool {
    !matches!(media.source, MediaSource::File(..))
}

fn tool(tool: &ToolDefinition) -> Json<'static> {
    let mut members = vec![member("name", &tool.name)];
    members.extend(tool.description.as_ref().map(|text| member("description", text)));
    members.extend(tool.schema.as_ref().map(|schema| ("parametersJsonSchema", Json::Written(schema.clone()))));
    Json::Object(members)
}

fn tool_choice(choice: &ToolChoice) -> Json<'static> {
    match choice {
        ToolChoice::Auto => object([member("mode", "AUTO")]),
        ToolChoice::None => object([member("mode", "NONE")]),
        ToolChoice::Any => object([member("mode", "ANY")]),
        ToolChoice::Tool(name) => {
            object([member("mode", "ANY"), ("allowedFunctionNames", strings(std::slice::from_ref(name)))])
        }
    }
}
