//! Renders a conversation of any dialect as a body.

use seamline_model::conversation::{Family, LiftedMessage, Media, MediaKind, MediaSource, ToolChoice, ToolDefinition};
use seamline_model::{Alphabet, IdDemand};

use super::CONSTRAINTS;
use super::write::Writer;
use crate::blocks;
use crate::convert::rendering::{numbers, strings};
use crate::convert::{Draft, Entries, Members, Rendered, Room, Target, extension, mime, write_body};
use crate::json::{Json, list, member, object};

pub(super) const ROOM: Room = Room {
    // BED-7.
    alternates: true,
    system_messages: false,
    assistant_media: false,
    result_media: true,
    refusals: false,
    failures: true,
    unique_ids: false,
    // BED-2: models behind the API take these.
    narrow: Some((IdDemand { alphabet: Alphabet::Word, ..CONSTRAINTS.call_id }, CONSTRAINTS.tool_name)),
    // BED-6.
    needs_tools: true,
    names_model: false,
    prompt: Some("system"),
    // BED-12: Claude's goes back as it was, that of others not at all.
    families: &[Family::Claude],
    free_tools: |_| false,
    strict_tools: false,
    lacks: &[
        "answers",
        "frequency_penalty",
        "logprobs",
        "parallel_calls",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "seed",
        "store",
        "stream_options",
        "top_logprobs",
        "user",
        "verbosity",
    ],
    media: is_shown,
    media_name: |media| (media.kind == MediaKind::Document).then(|| document_name(media)),
    media_detail: false,
};

/// Writes the body for a conversation.
pub(super) fn render(mut draft: Draft, target: &Target<'_>) -> Rendered {
    if draft.settings.tool_choice == Some(ToolChoice::None) {
        draft.settings.tool_choice = None;
        draft.note_dropped("tool_choice", "the dialect cannot forbid calls");
    }
    let settings = &draft.settings;
    let mut body: Members<'_> = Vec::new();
    if !draft.system.is_empty() {
        body.push(("system", list(draft.system.iter().map(|text| object([member("text", text)])).collect())));
    }
    body.extend(numbers(
        settings,
        ["inferenceConfig.maxTokens", "inferenceConfig.temperature", "inferenceConfig.topP"],
    ));
    if !settings.stop.is_empty() {
        body.push(("inferenceConfig.stopSequences", strings(&settings.stop)));
    }
    if !settings.tools.is_empty() {
        let mut config = vec![("tools", list(settings.tools.iter().map(tool).collect()))];
        config.extend(settings.tool_choice.as_ref().map(|choice| ("toolChoice", tool_choice(choice))));
        body.push(("toolConfig", Json::Object(config)));
    }
    let write = |message: &LiftedMessage| [blocks::said(&Writer, message)];
    write_body(draft, body, Entries { key: "messages", first: Vec::new(), write }, target)
}

fn is_shown(media: &Media, _: &Target<'_>) -> bool {
    match &media.source {
        MediaSource::Data(_) => extension(&mime(media)).is_some(),
        MediaSource::Url(url) => url.starts_with("s3://"),
        MediaSource::File(..) => false,
    }
}

fn tool(tool: &ToolDefinition) -> Json<'static> {
    let mut spec = vec![member("name", &tool.name)];
    spec.extend(tool.description.as_ref().map(|text| member("description", text)));
    let any = || "{\"type\":\"object\"}".to_owned();
    let schema = Json::Written(tool.schema.clone().unwrap_or_else(any));
    spec.push(("inputSchema", object([("json", schema)])));
    object([("toolSpec", Json::Object(spec))])
}

fn tool_choice(choice: &ToolChoice) -> Json<'static> {
    match choice {
        ToolChoice::Auto | ToolChoice::None => object([("auto", Json::Object(Vec::new()))]),
        ToolChoice::Any => object([("any", Json::Object(Vec::new()))]),
        ToolChoice::Tool(name) => object([("tool", object([member("name", name)]))]),
    }
}

/// Writes the name of a document with the few allowed characters.
pub(super) fn document_name(media: &Media) -> String {
    let name = media.name.as_deref().unwrap_or("document");
    let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || " -()[]".contains(char);
    name.chars().map(|char| if is_allowed(char) { char } else { '-' }).collect()
}
