//! Writes single blocks.

use seamline_model::BlockKind;
use seamline_model::conversation::{LiftedBlock, LiftedResult, Media, MediaKind, MediaSource, Reasoning};

use crate::blocks::{Blocks, Keys, block, listed};
use crate::convert::mime;
use crate::convert::rendering::only_text;
use crate::json::{Json, Kind, Value, list, member, object, quoted};
use crate::reading::part_text;

/// Writes blocks of the Messages API.
pub(super) struct Writer;

const KEYS: Keys = Keys {
    content: "content",
    call_id: "id",
    result_id: "tool_use_id",
    name: "name",
    input: "input",
    output: "content",
    shown: &["content"],
    result_known: &["type", "tool_use_id", "is_error", "id"],
    wrappers: &[],
};

impl Blocks for Writer {
    fn keys(&self) -> &'static Keys {
        &KEYS
    }

    fn text<'a>(&self, text: Json<'a>) -> Json<'a> {
        object([member("type", "text"), ("text", text)])
    }

    fn text_content<'a>(&self, text: Json<'a>) -> Json<'a> {
        text
    }

    fn call<'a>(&self, id: &str, name: &str, input: Json<'a>) -> Json<'a> {
        object([member("type", "tool_use"), member("id", id), member("name", name), ("input", input)])
    }

    fn result(&self, result: &LiftedResult) -> Json<'static> {
        let mut members = vec![member("type", "tool_result"), member("tool_use_id", &result.id)];
        if !result.blocks.is_empty() {
            members.push(("content", self.content(&result.blocks)));
        }
        if result.failed {
            members.push(("is_error", Json::Bool(true)));
        }
        Json::Object(members)
    }

    fn thought(&self, reasoning: &Reasoning) -> Option<Json<'static>> {
        let seal = reasoning.seal.clone().unwrap_or_default();
        Some(if reasoning.redacted {
            object([member("type", "redacted_thinking"), member("data", seal)])
        } else {
            object([member("type", "thinking"), member("thinking", &reasoning.text), member("signature", seal)])
        })
    }

    fn shown(&self, media: &Media) -> Option<Json<'static>> {
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
        Some(Json::Object(members))
    }

    fn content(&self, blocks: &[LiftedBlock]) -> Json<'static> {
        match only_text(blocks) {
            Some(text) => Json::Text(text.to_owned()),
            None => list(blocks.iter().filter_map(|said| block(self, said)).collect()),
        }
    }

    fn part_text<'d, 'a>(&self, part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
        part_text(part)
    }

    fn filled(&self, output: Option<Value<'_, '_>>, text: &str) -> String {
        match listed(self, output, |part| part.raw().to_owned()) {
            Err(kept) => quoted(&kept),
            Ok(parts) if parts.is_empty() => quoted(text),
            Ok(parts) => format!("[{}]", parts.join(",")),
        }
    }

    fn reasoning<'d, 'a>(&self, block: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
        block.object()?.get("thinking").filter(|thinking| thinking.is(Kind::String))
    }

    fn server_result<'a>(&self, kind: &BlockKind, value: Value<'_, 'a>) -> Option<Json<'a>> {
        let BlockKind::ServerCall(server) = kind else { return None };
        let id = server.call.id.as_deref().unwrap_or("");
        let family = &server.family;
        if value.object().and_then(|block| block.get("type")).is_some_and(|kind| kind.says("mcp_tool_use")) {
            let text = seamline_model::NO_SERVER_RESULT;
            return Some(object([
                member("type", "mcp_tool_result"),
                member("tool_use_id", id),
                ("is_error", Json::Bool(true)),
                ("content", list(vec![self.text(Json::Text(text.to_owned()))])),
            ]));
        }
        let error =
            object([member("type", format!("{family}_tool_result_error")), member("error_code", "unavailable")]);
        Some(object([member("type", format!("{family}_tool_result")), member("tool_use_id", id), ("content", error)]))
    }
}
