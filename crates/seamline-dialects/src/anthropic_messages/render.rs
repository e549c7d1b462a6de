//! Renders a conversation of any dialect as a body.

use seamline_model::conversation::{
    Answer, Block, Family, Media, MediaKind, MediaSource, Message, Reasoning, Says, Settings, Speaker,
    ToolChoice, ToolDefinition,
};

use super::write::Writer;
use crate::blocks::Blocks as _;
use crate::convert::rendering::{numbers, only_text, strings, typed_text};
use crate::convert::{Draft, Members, Rendered, Room, Target, mime, write_body};
use crate::json::{Json, list, member, object};
use crate::results::{Answering, written};

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
        draft.note_added("setting `max_tokens`", "the dialect demands one; 4096 is put there");
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
    body.push(("messages", list(draft.messages.iter().map(message).collect())));
    write_body(draft, body, target)
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

fn message(message: &Message) -> Json<'static> {
    let role = match message.speaker {
        Speaker::Assistant => "assistant",
        Speaker::User | Speaker::System => "user",
    };
    object([member("role", role), ("content", content(&message.blocks))])
}

fn content(blocks: &[Block]) -> Json<'static> {
    match only_text(blocks) {
        Some(text) => Json::Text(text.to_owned()),
        None => list(blocks.iter().filter_map(block).collect()),
    }
}

fn block(block: &Block) -> Option<Json<'static>> {
    Some(match &block.says {
        Says::Text(text) | Says::Refusal(text) => typed_text("text", text),
        Says::Call(call) => Writer.call(&call.id, &call.name, Json::Written(call.input.clone())),
        Says::Result(answer) => result(answer),
        Says::Reasoning(reasoning) => thinking(reasoning),
        Says::Media(media) => shown(media),
        Says::Opaque(_) => return None,
    })
}

/// Writes a result.
pub(super) fn result(answer: &Answer) -> Json<'static> {
    let mut members = vec![member("type", "tool_result"), member("tool_use_id", &answer.id)];
    if !answer.blocks.is_empty() {
        members.push(("content", content(&answer.blocks)));
    }
    if answer.failed {
        members.push(("is_error", Json::Bool(true)));
    }
    Json::Object(members)
}

/// Writes the message with the results of calls.
pub(super) fn results(answers: &[Answering<'_>]) -> Vec<String> {
    let results = answers.iter().map(|answer| result(&answer.answer())).collect();
    vec![written(&object([member("role", "user"), ("content", list(results))]))]
}

fn thinking(reasoning: &Reasoning) -> Json<'static> {
    let seal = reasoning.seal.clone().unwrap_or_default();
    if reasoning.redacted {
        return object([member("type", "redacted_thinking"), member("data", seal)]);
    }
    object([member("type", "thinking"), member("thinking", &reasoning.text), member("signature", seal)])
}

fn shown(media: &Media) -> Json<'static> {
    let source = match &media.source {
        MediaSource::Data(data) => {
            object([member("type", "base64"), member("media_type", mime(media)), member("data", data)])
        }
        MediaSource::Url(url) | MediaSource::File(_, url) => object([member("type", "url"), member("url", url)]),
    };
    let mut members = vec![member("type", media.kind.as_str()), ("source", source)];
    if media.kind == MediaKind::Document {
        members.extend(media.name.as_ref().map(|name| member("title", name)));
    }
    Json::Object(members)
}
