//! A conversation of any dialect to wire.

use seamline_model::conversation::{
    Answer, Block, Call, Conversation, Family, Media, MediaKind, MediaSource, Message, Reasoning, Says, Speaker,
    ToolChoice, ToolDefinition,
};

use crate::convert::rendering::{numbers, only_text, typed_text};
use crate::convert::{Draft, Members, Rendered, Room, Target, data_url, file_name, rendered};
use crate::json::{Json, list, member, object};

const ROOM: Room = Room {
    alternates: false,
    system_messages: true,
    assistant_media: false,
    result_media: true,
    refusals: true,
    failures: false,
    // Calls and outputs find each other by id alone, wherever they stand.
    unique_ids: true,
    letter_first: false,
    needs_tools: false,
    names_model: true,
    families: &[Family::OpenAi],
    media: is_shown,
};

/// The body that says this.
pub(crate) fn render(conversation: &Conversation, target: &Target<'_>) -> Rendered {
    let mut draft = Draft::of(conversation, target, &ROOM);
    if !draft.settings.stop.is_empty() {
        draft.left("stop", "the dialect has nothing that ends an answer early");
    }
    let settings = &draft.settings;
    let mut body: Members<'_> = Vec::new();
    body.extend(settings.model.as_ref().map(|model| member("model", model)));
    body.extend(numbers(settings, ["max_output_tokens", "temperature", "top_p"]));
    body.extend(settings.stream.map(|stream| ("stream", Json::Bool(stream))));
    if !draft.system.is_empty() {
        body.push(member("instructions", draft.system.join("\n\n")));
    }
    if !settings.tools.is_empty() {
        body.push(("tools", list(settings.tools.iter().map(tool).collect())));
    }
    body.extend(settings.tool_choice.as_ref().map(|choice| ("tool_choice", tool_choice(choice))));
    body.push(("input", list(draft.messages.iter().flat_map(items).collect())));
    rendered(draft, body, target)
}

fn is_shown(media: &Media) -> bool {
    let is_kind = matches!(media.kind, MediaKind::Image | MediaKind::Document);
    is_kind && !matches!(media.source, MediaSource::File(_))
}

fn tool(tool: &ToolDefinition) -> Json<'static> {
    let mut members = vec![member("type", "function"), member("name", &tool.name)];
    members.extend(tool.description.as_ref().map(|text| member("description", text)));
    let any = || "{\"type\":\"object\",\"properties\":{}}".to_owned();
    members.push(("parameters", Json::Written(tool.schema.clone().unwrap_or_else(any))));
    // Without it schemas are held to a stricter form than other dialects ask for.
    members.push(("strict", Json::Bool(false)));
    Json::Object(members)
}

fn tool_choice(choice: &ToolChoice) -> Json<'static> {
    match choice {
        ToolChoice::Auto => Json::Text("auto".to_owned()),
        ToolChoice::None => Json::Text("none".to_owned()),
        ToolChoice::Any => Json::Text("required".to_owned()),
        ToolChoice::Tool(name) => object([member("type", "function"), member("name", name)]),
    }
}

/// The items of a message: what is said together is one, each call and result is one.
fn items(message: &Message) -> Vec<Json<'static>> {
    let is_said = |block: &Block| matches!(block.says, Says::Text(_) | Says::Media(_) | Says::Refusal(_));
    let stretches = message.blocks.chunk_by(|one, other| is_said(one) && is_said(other));
    stretches.filter_map(|blocks| item(message.speaker, blocks)).collect()
}

fn item(speaker: Speaker, blocks: &[Block]) -> Option<Json<'static>> {
    match &blocks.first()?.says {
        Says::Call(call) => Some(function_call(call)),
        Says::Result(answer) => Some(output(answer)),
        Says::Reasoning(reasoning) => Some(thought(reasoning)),
        Says::Text(_) | Says::Media(_) | Says::Refusal(_) => Some(said(speaker, blocks)),
        Says::Opaque(_) => None,
    }
}

fn said(speaker: Speaker, blocks: &[Block]) -> Json<'static> {
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

fn part(block: &Block, kind: &'static str) -> Option<Json<'static>> {
    match &block.says {
        Says::Text(text) => Some(typed_text(kind, text)),
        Says::Refusal(text) => Some(object([member("type", "refusal"), member("refusal", text)])),
        Says::Media(media) => shown(media),
        _ => None,
    }
}

fn function_call(call: &Call) -> Json<'static> {
    object([
        member("type", "function_call"),
        member("call_id", &call.id),
        member("name", &call.name),
        member("arguments", &call.input),
    ])
}

fn output(answer: &Answer) -> Json<'static> {
    let output = match (only_text(&answer.blocks), answer.blocks.as_slice()) {
        (Some(text), _) => Json::Text(text.to_owned()),
        (None, []) => Json::Text(String::new()),
        (None, blocks) => list(blocks.iter().filter_map(|block| part(block, "input_text")).collect()),
    };
    object([member("type", "function_call_output"), member("call_id", &answer.id), ("output", output)])
}

/// OAR-8: what is sealed goes without an id.
fn thought(reasoning: &Reasoning) -> Json<'static> {
    let summary =
        if reasoning.text.is_empty() { Vec::new() } else { vec![typed_text("summary_text", &reasoning.text)] };
    let seal = reasoning.seal.clone().unwrap_or_default();
    object([member("type", "reasoning"), ("summary", list(summary)), member("encrypted_content", seal)])
}

fn shown(media: &Media) -> Option<Json<'static>> {
    let url = data_url(media)?;
    Some(match (media.kind, &media.source) {
        (MediaKind::Image, _) => object([member("type", "input_image"), member("image_url", url)]),
        (_, MediaSource::Url(_)) => object([member("type", "input_file"), member("file_url", url)]),
        _ => object([member("type", "input_file"), member("filename", file_name(media)), member("file_data", url)]),
    })
}
