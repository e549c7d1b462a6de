//! A conversation of any dialect to wire.

use seamline_model::conversation::{
    Answer, Block, Call, Conversation, Media, MediaKind, MediaSource, Message, Says, Speaker, ToolChoice,
    ToolDefinition,
};

use crate::convert::rendering::{is_result, numbers, only_text, strings, typed_text};
use crate::convert::{Draft, Members, Rendered, Room, Target, data_url, extension, file_name, mime, rendered};
use crate::json::{Json, list, member, object};

const ROOM: Room = Room {
    alternates: false,
    system_messages: true,
    assistant_media: false,
    // OAC-1: results hold text.
    result_media: false,
    refusals: true,
    failures: false,
    unique_ids: false,
    letter_first: false,
    needs_tools: false,
    names_model: true,
    // Servers that want their reasoning back want what they wrote themselves.
    families: &[],
    media: is_shown,
};

/// The body that says this.
pub(crate) fn render(conversation: &Conversation, target: &Target<'_>) -> Rendered {
    let draft = Draft::of(conversation, target, &ROOM);
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
    if !settings.tools.is_empty() {
        body.push(("tools", list(settings.tools.iter().map(tool).collect())));
    }
    body.extend(settings.tool_choice.as_ref().map(|choice| ("tool_choice", tool_choice(choice))));
    let system = draft.system.iter().map(|text| object([member("role", "system"), member("content", text)]));
    let messages = system.chain(draft.messages.iter().flat_map(messages)).collect();
    body.push(("messages", list(messages)));
    rendered(draft, body, target)
}

fn is_shown(media: &Media) -> bool {
    match (media.kind, &media.source) {
        (MediaKind::Image, source) => !matches!(source, MediaSource::File(_)),
        (MediaKind::Audio | MediaKind::Document, source) => matches!(source, MediaSource::Data(_)),
        (MediaKind::Video, _) => false,
    }
}

fn tool(tool: &ToolDefinition) -> Json<'static> {
    let mut function = vec![member("name", &tool.name)];
    function.extend(tool.description.as_ref().map(|text| member("description", text)));
    function.extend(tool.schema.as_ref().map(|schema| ("parameters", Json::Written(schema.clone()))));
    object([member("type", "function"), ("function", Json::Object(function))])
}

fn tool_choice(choice: &ToolChoice) -> Json<'static> {
    match choice {
        ToolChoice::Auto => Json::Text("auto".to_owned()),
        ToolChoice::None => Json::Text("none".to_owned()),
        ToolChoice::Any => Json::Text("required".to_owned()),
        ToolChoice::Tool(name) => object([member("type", "function"), ("function", object([member("name", name)]))]),
    }
}

/// A message, with each result as one of its own before the rest.
fn messages(message: &Message) -> Vec<Json<'static>> {
    if message.speaker == Speaker::Assistant {
        return vec![assistant(&message.blocks)];
    }
    let role = if message.speaker == Speaker::System { "system" } else { "user" };
    let (results, rest): (Vec<&Block>, Vec<&Block>) = message.blocks.iter().partition(|block| is_result(block));
    let mut out: Vec<_> = results.into_iter().filter_map(result).collect();
    let rest: Vec<Block> = rest.into_iter().cloned().collect();
    if !rest.is_empty() {
        out.push(object([member("role", role), ("content", content(&rest))]));
    }
    out
}

fn assistant(blocks: &[Block]) -> Json<'static> {
    let said: Vec<Block> = blocks.iter().filter(|block| matches!(block.says, Says::Text(_))).cloned().collect();
    let mut members = vec![member("role", "assistant")];
    members.push(("content", if said.is_empty() { Json::Null } else { content(&said) }));
    for block in blocks {
        if let Says::Refusal(text) = &block.says {
            members.push(member("refusal", text));
        }
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

fn call(call: &Call) -> Json<'static> {
    let function = object([member("name", &call.name), member("arguments", &call.input)]);
    object([member("id", &call.id), member("type", "function"), ("function", function)])
}

fn result(block: &Block) -> Option<Json<'static>> {
    let Says::Result(Answer { id, blocks, .. }) = &block.says else { return None };
    let content = if blocks.is_empty() { Json::Text(String::new()) } else { content(blocks) };
    Some(object([member("role", "tool"), member("tool_call_id", id), ("content", content)]))
}

fn content(blocks: &[Block]) -> Json<'static> {
    match only_text(blocks) {
        Some(text) => Json::Text(text.to_owned()),
        None => list(blocks.iter().filter_map(part).collect()),
    }
}

fn part(block: &Block) -> Option<Json<'static>> {
    match &block.says {
        Says::Text(text) => Some(typed_text("text", text)),
        Says::Media(media) => shown(media),
        _ => None,
    }
}

fn shown(media: &Media) -> Option<Json<'static>> {
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
        _ => object([member("type", "image_url"), ("image_url", object([member("url", url)]))]),
    })
}
