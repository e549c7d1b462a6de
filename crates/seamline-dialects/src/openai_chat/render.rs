//! Renders a conversation of any dialect as a body.

use seamline_model::conversation::{
    Family, Grammar, LiftedBlock, LiftedCall, LiftedMessage, LiftedResult, Media, MediaKind, MediaSource, Other,
    ResponseFormat, Says, Speaker, ToolChoice, ToolDefinition,
};

use super::calls;
use super::lift::FUNCTION;
use crate::convert::rendering::{is_result, numbers, only_text, strings, typed_text};
use crate::convert::{
    Draft, Entries, Members, Rendered, Room, Target, data_url, extension, file_name, mime, schema_members, write_body,
};
use crate::json::{Json, list, member, object, quoted};
use crate::results::{AnsweredCall, written};

pub(super) const ROOM: Room = Room {
    alternates: false,
    system_messages: true,
    assistant_media: false,
    // OAC-1: results hold text.
    result_media: false,
    refusals: true,
    failures: false,
    unique_ids: false,
    narrow: None,
    needs_tools: false,
    names_model: true,
    prompt: None,
    // Servers that want their reasoning back want what they wrote themselves.
    families: &[],
    free_tools: is_own,
    strict_tools: true,
    lacks: &["top_k"],
    media: is_shown,
    media_name: |media| {
        let is_written = media.kind == MediaKind::Document && matches!(media.source, MediaSource::Data(_));
        is_written.then(|| file_name(media))
    },
    media_detail: true,
};

/// Settings that are carried over unchanged.
pub(super) const SHARED: &[(&str, &str)] = &[
    ("seed", "seed"),
    ("seed", "random_seed"),
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
    ("answers", "n"),
    ("logprobs", "logprobs"),
    ("top_logprobs", "top_logprobs"),
    ("parallel_calls", "parallel_tool_calls"),
    ("effort", "reasoning_effort"),
    ("stream_options", "stream_options"),
    ("verbosity", "verbosity"),
    ("metadata", "metadata"),
    ("store", "store"),
    ("service_tier", "service_tier"),
    ("user", "user"),
    ("safety_identifier", "safety_identifier"),
    ("prompt_cache_key", "prompt_cache_key"),
    ("prompt_cache_retention", "prompt_cache_retention"),
];

/// The shared settings that other servers of the dialect do not know, and some refuse.
const OWN: &[&str] = &[
    "verbosity",
    "metadata",
    "store",
    "service_tier",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
];

/// The settings of Mistral, by its own names. It refuses any other.
const MISTRAL: &[&str] = &[
    "random_seed",
    "presence_penalty",
    "frequency_penalty",
    "n",
    "parallel_tool_calls",
    "reasoning_effort",
    "metadata",
    "prompt_cache_key",
];

/// Whether the target knows a setting under this name.
fn takes(target: &Target<'_>, (name, path): (&str, &str)) -> bool {
    match target.provider {
        Some("mistral" | "mistral-v13") => MISTRAL.contains(&path),
        _ => path != "random_seed" && (is_own(target) || !OWN.contains(&name)),
    }
}

/// Whether the target takes the whole dialect: `OpenAI` itself, or an unnamed provider.
fn is_own(target: &Target<'_>) -> bool {
    matches!(target.provider, None | Some("openai" | "azure" | "openai-compatible"))
}

/// Writes the body for a conversation.
pub(super) fn render(mut draft: Draft, target: &Target<'_>) -> Rendered {
    ask_for_likelihoods(&mut draft);
    let taken: Vec<_> = SHARED.iter().copied().filter(|setting| takes(target, *setting)).collect();
    let (shared, format) = (draft.shared(&taken), response_format(&mut draft));
    let settings = &draft.settings;
    let mut body: Members<'_> = Vec::new();
    body.extend(settings.model.as_ref().map(|model| member("model", model)));
    // Newer models of OpenAI refuse the older name, other servers do not know the newer one.
    let max = if target.provider == Some("openai") { "max_completion_tokens" } else { "max_tokens" };
    body.extend(numbers(settings, [max, "temperature", "top_p"]));
    if !settings.stop.is_empty() {
        body.push(("stop", strings(&settings.stop)));
    }
    body.extend(settings.stream.map(|stream| ("stream", Json::Bool(stream))));
    body.extend(shared);
    body.extend(format.map(|format| ("response_format", format)));
    if !settings.tools.is_empty() {
        body.push(("tools", list(settings.tools.iter().map(tool).collect())));
    }
    body.extend(settings.tool_choice.as_ref().map(|choice| ("tool_choice", tool_choice(choice, &settings.tools))));
    let system = draft.system.iter().map(|text| object([member("role", "system"), member("content", text)]));
    let first = system.collect();
    write_body(draft, body, Entries { key: "messages", first, write: messages }, target)
}

/// Writes the number of log probabilities, which needs the setting that turns them on.
fn ask_for_likelihoods(draft: &mut Draft) {
    let others = &mut draft.settings.others;
    if others.contains_key("top_logprobs") && !others.contains_key("logprobs") {
        others.insert("logprobs", Other { json: "true".to_owned(), pointer: String::new() });
        draft.note_added("setting `logprobs`", "`top_logprobs` demands it");
    }
}

fn response_format(draft: &mut Draft) -> Option<Json<'static>> {
    Some(match draft.format()? {
        ResponseFormat::Text => object([member("type", "text")]),
        ResponseFormat::Json => object([member("type", "json_object")]),
        ResponseFormat::Schema(schema) => {
            let schema = Json::Object(schema_members(draft, schema));
            object([member("type", "json_schema"), ("json_schema", schema)])
        }
    })
}

fn is_shown(media: &Media, target: &Target<'_>) -> bool {
    match (media.kind, &media.source) {
        (MediaKind::Document, MediaSource::File(Family::OpenAi, _)) => is_own(target),
        (MediaKind::Image, source) => !matches!(source, MediaSource::File(..)),
        (MediaKind::Audio | MediaKind::Document, source) => matches!(source, MediaSource::Data(_)),
        (MediaKind::Video, _) => false,
    }
}

fn tool(tool: &ToolDefinition) -> Json<'static> {
    let mut members = vec![member("name", &tool.name)];
    members.extend(tool.description.as_ref().map(|text| member("description", text)));
    if let Some(free) = &tool.free {
        members.extend(free.grammar.as_ref().map(|grammar| ("format", format_of(grammar))));
        return object([member("type", "custom"), ("custom", Json::Object(members))]);
    }
    members.extend(tool.schema.as_ref().map(|schema| ("parameters", Json::Written(schema.clone()))));
    members.extend(tool.strict.map(|strict| ("strict", Json::Bool(strict))));
    object([member("type", "function"), ("function", Json::Object(members))])
}

fn format_of(grammar: &Grammar) -> Json<'static> {
    let inner = object([member("syntax", &grammar.syntax), member("definition", &grammar.definition)]);
    object([member("type", "grammar"), ("grammar", inner)])
}

fn tool_choice(choice: &ToolChoice, tools: &[ToolDefinition]) -> Json<'static> {
    match choice {
        ToolChoice::Auto => Json::Text("auto".to_owned()),
        ToolChoice::None => Json::Text("none".to_owned()),
        ToolChoice::Any => Json::Text("required".to_owned()),
        ToolChoice::Tool(name) => {
            let is_free = tools.iter().any(|tool| tool.name == *name && tool.free.is_some());
            let kind = if is_free { "custom" } else { "function" };
            object([member("type", kind), (kind, object([member("name", name)]))])
        }
    }
}

/// Writes a message, with each result as a message before the rest.
fn messages(message: &LiftedMessage) -> Vec<Json<'static>> {
    if message.speaker == Speaker::Assistant {
        return vec![assistant(&message.blocks)];
    }
    let role = if message.speaker == Speaker::System { "system" } else { "user" };
    let (results, rest): (Vec<&LiftedBlock>, Vec<&LiftedBlock>) =
        message.blocks.iter().partition(|block| is_result(block));
    let mut out: Vec<_> = results.into_iter().filter_map(result).collect();
    if !rest.is_empty() {
        out.push(object([member("role", role), ("content", content(rest.iter().copied()))]));
    }
    out
}

fn assistant(blocks: &[LiftedBlock]) -> Json<'static> {
    let said = blocks.iter().filter(|block| matches!(block.says, Says::Text(_)));
    let is_silent = said.clone().next().is_none();
    let mut members = vec![member("role", "assistant")];
    members.push(("content", if is_silent { Json::Null } else { content(said) }));
    let refusals: Vec<&str> = blocks
        .iter()
        .filter_map(|block| if let Says::Refusal(text) = &block.says { Some(text.as_str()) } else { None })
        .collect();
    if !refusals.is_empty() {
        members.push(member("refusal", refusals.join("\n")));
    }
    let calls: Vec<_> = blocks
        .iter()
        .filter_map(|block| if let Says::Call(call) = &block.says { Some(self::call(call)) } else { None })
        .collect();
    if !calls.is_empty() {
        members.push(("tool_calls", list(calls)));
    }
    Json::Object(members)
}

fn call(call: &LiftedCall) -> Json<'static> {
    if let Some(text) = &call.free {
        let custom = object([member("name", &call.name), member("input", text)]);
        return object([member("id", &call.id), member("type", "custom"), ("custom", custom)]);
    }
    calls::function_call(Json::Text(call.id.clone()), Json::Text(call.name.clone()), quoted(&call.input))
}

/// Writes the messages with the results of calls.
pub(super) fn results(calls: &[AnsweredCall<'_>]) -> Vec<String> {
    let messages = calls.iter().map(|answered| {
        let text = answered.marked_text();
        // Before calls had ids, results named the tool.
        written(&if answered.call.answered_by == FUNCTION {
            object([member("role", FUNCTION), member("name", &answered.call.name), member("content", text)])
        } else {
            calls::result(&answered.call.id, Json::Text(text))
        })
    });
    messages.collect()
}

fn result(block: &LiftedBlock) -> Option<Json<'static>> {
    let Says::Result(result) = &block.says else { return None };
    let LiftedResult { id, blocks, .. } = &**result;
    let content = if blocks.is_empty() { Json::Text(String::new()) } else { content(blocks.iter()) };
    Some(calls::result(id, content))
}

fn content<'b>(blocks: impl Iterator<Item = &'b LiftedBlock> + Clone) -> Json<'static> {
    match only_text(blocks.clone()) {
        Some(text) => Json::Text(text.to_owned()),
        None => list(blocks.filter_map(part).collect()),
    }
}

fn part(block: &LiftedBlock) -> Option<Json<'static>> {
    match &block.says {
        Says::Text(text) => Some(typed_text("text", text)),
        Says::Media(media) => shown(media),
        _ => None,
    }
}

fn shown(media: &Media) -> Option<Json<'static>> {
    if let (MediaKind::Document, MediaSource::File(_, id)) = (media.kind, &media.source) {
        return Some(object([member("type", "file"), ("file", object([member("file_id", id)]))]));
    }
    let url = data_url(media)?;
    Some(match (media.kind, &media.source) {
        (MediaKind::Audio, MediaSource::Data(data)) => {
            let format = extension(&mime(media)).unwrap_or("wav");
            let audio = object([member("data", data), member("format", format)]);
            object([member("type", "input_audio"), ("input_audio", audio)])
        }
        (MediaKind::Document, _) => {
            let file = object([member("filename", file_name(media)), member("file_data", url)]);
            object([member("type", "file"), ("file", file)])
        }
        _ => {
            let mut image = vec![member("url", url)];
            image.extend(media.detail.as_ref().map(|detail| member("detail", detail)));
            object([member("type", "image_url"), ("image_url", Json::Object(image))])
        }
    })
}
