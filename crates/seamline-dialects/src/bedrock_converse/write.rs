//! Writes single blocks.

use seamline_model::NO_OUTPUT;
use seamline_model::conversation::{LiftedResult, Media, MediaKind, MediaSource, Reasoning};

use super::render::document_name;
use super::wire;
use crate::blocks::{Blocks, Keys, block, listed};
use crate::convert::{extension, mime};
use crate::json::{Json, Kind, Value, list, member, object, quoted};

/// Writes blocks of the Converse API.
pub(super) struct Writer;

const KEYS: Keys = Keys {
    content: "content",
    call_id: "toolUseId",
    result_id: "toolUseId",
    name: "name",
    input: "input",
    output: "content",
    shown: &["content"],
    result_known: &["toolUseId", "status", "type"],
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

    fn result(&self, result: &LiftedResult) -> Json<'static> {
        let mut content: Vec<_> = result.blocks.iter().filter_map(|said| block(self, said)).collect();
        if content.is_empty() && result.failed {
            // BED-9: a failed tool says something.
            content.push(object([member("text", NO_OUTPUT)]));
        }
        let mut members = vec![member("toolUseId", &result.id), ("content", list(content))];
        if result.failed {
            members.push(member("status", "error"));
        }
        object([("toolResult", Json::Object(members))])
    }

    fn thought(&self, reasoning: &Reasoning) -> Option<Json<'static>> {
        let seal = reasoning.seal.clone().unwrap_or_default();
        let inner = if reasoning.redacted {
            member("redactedContent", seal)
        } else {
            ("reasoningText", object([member("text", &reasoning.text), member("signature", seal)]))
        };
        Some(object([("reasoningContent", object([inner]))]))
    }

    fn shown(&self, media: &Media) -> Option<Json<'static>> {
        let source = match &media.source {
            MediaSource::Data(data) => object([member("bytes", data)]),
            MediaSource::Url(uri) | MediaSource::File(_, uri) => object([("s3Location", object([member("uri", uri)]))]),
        };
        let mut inner = vec![member("format", extension(&mime(media)).unwrap_or("txt"))];
        if media.kind == MediaKind::Document {
            inner.push(member("name", document_name(media)));
        }
        inner.push(("source", source));
        Some(object([(media.kind.as_str(), Json::Object(inner))]))
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

    /// JSON becomes text: it is the only part of a result that a message cannot hold.
    fn part_as_block<'a>(&self, part: Value<'_, 'a>) -> Json<'a> {
        match part.object().and_then(|part| part.get("json")) {
            Some(json) => self.text(Json::Text(json.raw().to_owned())),
            None => Json::Raw(part.raw()),
        }
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
