//! Writes single blocks.

use super::{render, wire};
use crate::blocks::{Blocks, Keys, kept_parts, listed};
use crate::json::{Json, Kind, Value, list, member, object, quoted};
use crate::results::synthetic;

/// Writes blocks of the Converse API.
pub(super) struct Writer;

const KEYS: Keys = Keys {
    content: "content",
    call_id: "toolUseId",
    result_id: "toolUseId",
    name: "name",
    input: "input",
    output: "content",
    result_known: &["toolUseId", "content", "status", "type"],
    wrappers: &["toolUse", "toolResult"],
};

impl Blocks for Writer {
    fn keys(&self) -> &'static Keys {
        &KEYS
    }

    fn text<'a>(&self, text: Json<'a>) -> Json<'a> {
        object([("text", text)])
    }

    fn call<'a>(&self, id: &str, name: &str, input: Json<'a>) -> Json<'a> {
        object([("toolUse", object([member("toolUseId", id), member("name", name), ("input", input)]))])
    }

    fn made_up_result<'a>(&self, _call: Value<'_, '_>, id: &str, text: &str) -> Json<'a> {
        render::result(&synthetic(id, None, text))
    }

    fn part_text<'d, 'a>(&self, part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
        wire::part_text(part)
    }

    fn filled(&self, output: Option<Value<'_, '_>>, text: &str) -> String {
        let text_part = |raw: &str| format!("{{\"text\":{raw}}}");
        if let Some(said) = output.filter(|output| output.is(Kind::String) && !output.raw_str().trim().is_empty()) {
            return format!("[{}]", text_part(said.raw()));
        }
        let as_part = |part: Value<'_, '_>| match part.object().and_then(|part| part.get("json")) {
            Some(json) if wire::is_bare_json(part) => {
                text_part(&if json.is(Kind::String) { json.raw().to_owned() } else { quoted(json.raw()) })
            }
            _ => part.raw().to_owned(),
        };
        match listed(self, output, as_part) {
            Err(kept) => format!("[{}]", text_part(&quoted(&kept))),
            Ok(parts) if parts.is_empty() && !text.is_empty() => format!("[{}]", text_part(&quoted(text))),
            Ok(parts) => format!("[{}]", parts.join(",")),
        }
    }

    fn reasoning<'d, 'a>(&self, block: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
        let reasoning = block.object()?.get("reasoningContent")?.object()?;
        reasoning.get("reasoningText")?.object()?.get("text").filter(|text| text.is(Kind::String))
    }

    fn kept<'a>(&self, result: Value<'_, 'a>, heading: &str) -> Vec<Json<'a>> {
        let output = result.object().and_then(|members| members.get(KEYS.output));
        kept_parts(self, output, heading, |part| as_block(self, part))
    }

    fn declaration<'a>(&self, names: &[String]) -> Option<(&'static str, Json<'a>)> {
        let declared = |name: &String| {
            let schema = object([("json", object([member("type", "object")]))]);
            let why = format!("{} declared because earlier messages call it", seamline_model::MARK);
            object([("toolSpec", object([member("name", name), member("description", why), ("inputSchema", schema)]))])
        };
        Some(("toolConfig", object([("tools", list(names.iter().map(declared).collect()))])))
    }
}

/// Writes a part of a result as a block of a message. JSON becomes text, which is the only part that cannot be one.
fn as_block<'a>(writer: &Writer, part: Value<'_, 'a>) -> Json<'a> {
    match part.object().and_then(|part| part.get("json")) {
        Some(json) => writer.text(Json::Text(json.raw().to_owned())),
        None => Json::Raw(part.raw()),
    }
}
