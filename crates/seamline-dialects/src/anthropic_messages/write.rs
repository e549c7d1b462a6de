//! Writes single blocks.

use seamline_model::BlockKind;

use super::render;
use crate::blocks::{Blocks, Keys, kept_parts, listed};
use crate::json::{Json, Value, list, member, object, quoted};
use crate::reading::part_text;
use crate::results::synthetic;

/// Writes blocks of the Messages API.
pub(super) struct Writer;

const KEYS: Keys = Keys {
    content: "content",
    call_id: "id",
    result_id: "tool_use_id",
    name: "name",
    input: "input",
    output: "content",
    result_known: &["type", "tool_use_id", "content", "is_error", "cache_control", "id"],
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

    fn made_up_result<'a>(&self, _call: Value<'_, '_>, id: &str, text: &str) -> Json<'a> {
        render::result(&synthetic(id, None, text))
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

    fn kept<'a>(&self, result: Value<'_, 'a>, heading: &str) -> Vec<Json<'a>> {
        let output = result.object().and_then(|members| members.get(KEYS.output));
        kept_parts(self, output, heading, |part| Json::Raw(part.raw()))
    }

    fn reasoning<'d, 'a>(&self, block: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
        block.object().and_then(|block| block.get("thinking"))
    }

    fn server_answer<'a>(&self, kind: &BlockKind, value: Value<'_, 'a>) -> Option<Json<'a>> {
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
