//! Renders a conversation of any dialect as a body.

use seamline_model::conversation::{
    Family, LiftedMessage, Media, MediaKind, MediaSource, Settings, ToolChoice, ToolDefinition,
};

use super::write::Writer;
use crate::blocks;
use crate::convert::rendering::{numbers, strings, typed_text};
use crate::convert::{Draft, Entries, Members, Rendered, Room, Target, write_body};
use crate::json::{Json, list, member};

pub(super) const ROOM: Room = Room {
    // ANT-11: joined by the server; others that speak the dialect want it.
    alternates: true,
    // ANT-15: few models know them.
    system_messages: false,
    assistant_media: false,
    result_media: true,
    refusals: false,
    failures: true,
    unique_ids: false,
    narrow: None,
    // Endpoints were seen to refuse calls of tools that are not defined.
    needs_tools: true,
    names_model: true,
    prompt: Some("system"),
    families: &[Family::Claude],
    free_tools: |_| false,
    strict_tools: true,
    lacks: &[
        "answers",
        "frequency_penalty",
        "logprobs",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_retention",
        "seed",
        "store",
        "stream_options",
        "top_logprobs",
        "verbosity",
    ],
    media: is_shown,
    media_name: |media| media.name.clone().filter(|_| media.kind == MediaKind::Document),
    media_detail: false,
};

/// Settings that are carried over unchanged.
pub(super) const SHARED: &[(&str, &str)] = &[("top_k", "top_k"), ("user", "metadata.user_id")];

/// The length of a response if the source has none. The dialect demands one.
const MAX_TOKENS: &str = "4096";

/// Writes the body for a conversation.
pub(super) fn render(mut draft: Draft, target: &Target<'_>) -> Rendered {
    if draft.settings.max_tokens.is_none() {
        draft.settings.max_tokens = Some(MAX_TOKENS.to_owned());
        draft.note_added("setting `max_tokens`", "required by the dialect; set to 4096");
    }
    let shared = draft.shared(SHARED);
    let choice = chosen(&mut draft.settings);
    let settings = &draft.settings;
    let mut body: Members<'_> = Vec::new();
    body.extend(settings.model.as_ref().map(|model| member("model", model)));
    body.extend(numbers(settings, ["max_tokens", "temperature", "top_p"]));
    if !settings.stop.is_empty() {
        body.push(("stop_sequences", strings(&settings.stop)));
    }
    body.extend(settings.stream.map(|stream| ("stream", Json::Bool(stream))));
    body.extend(shared);
    if !draft.system.is_empty() {
        body.push(("system", system(&draft.system)));
    }
    if !settings.tools.is_empty() {
        body.push(("tools", list(settings.tools.iter().map(tool).collect())));
    }
    body.extend(choice.map(|choice| ("tool_choice", Json::Object(choice))));
    let write = |message: &LiftedMessage| [blocks::said(&Writer, message)];
    write_body(draft, body, Entries { key: "messages", first: Vec::new(), write }, target)
}

fn is_shown(media: &Media, _: &Target<'_>) -> bool {
    let is_kind = matches!(media.kind, MediaKind::Image | MediaKind::Document);
    is_kind && !matches!(media.source, MediaSource::File(..))
}

fn system(texts: &[String]) -> Json<'static> {
    match texts {
        [text] => Json::Text(text.clone()),
        texts => list(texts.iter().map(|text| typed_text("text", text)).collect()),
    }
}

fn tool(tool: &ToolDefinition) -> Json<'static> {
    let mut members = vec![member("name", &tool.name)];
    members.extend(tool.description.as_ref().map(|text| member("description", text)));
    let any = || "{\"type\":\"object\"}".to_owned();
    members.push(("input_schema", Json::Written(tool.schema.clone().unwrap_or_else(any))));
    if tool.strict == Some(true) {
        members.push(("strict", Json::Bool(true)));
    }
    Json::Object(members)
}

/// Writes the tool choice, and whether parallel calls are off.
fn chosen(settings: &mut Settings) -> Option<Members<'static>> {
    let is_alone = settings.others.get("parallel_calls").is_some_and(|several| several.json == "false");
    let choice = match &settings.tool_choice {
        None if is_alone && !settings.tools.is_empty() => ToolChoice::Auto,
        choice => choice.clone()?,
    };
    let mut members = tool_choice(&choice);
    if is_alone {
        settings.others.remove("parallel_calls");
        if choice != ToolChoice::None {
            members.push(("disable_parallel_tool_use", Json::Bool(true)));
        }
    }
    Some(members)
}

fn tool_choice(choice: &ToolChoice) -> Members<'static> {
    match choice {
        ToolChoice::Auto => vec![member("type", "auto")],
        ToolChoice::None => vec![member("type", "none")],
        ToolChoice::Any => vec![member("type", "any")],
        ToolChoice::Tool(name) => vec![member("type", "tool"), member("name", name)],
    }
}
