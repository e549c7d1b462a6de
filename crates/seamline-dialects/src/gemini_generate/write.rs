//! Writes single parts.

use std::borrow::Cow;

use seamline_model::Role;
use seamline_model::conversation::{LiftedBlock, LiftedCall, LiftedResult, Media, MediaSource, Reasoning, Says};

use super::wire;
use crate::blocks::{Blocks, Keys, Patch, block};
use crate::convert::mime;
use crate::fenced::Fenced;
use crate::json::{Json, Kind, Value, list, member, object, quoted};
use crate::results::{AnsweredCall, synthetic};
use crate::rewriting::{cuts, set_member, set_members};
use crate::signing::NO_SIGNATURE;

/// Writes parts of generateContent.
pub(super) struct Writer;

const KEYS: Keys = Keys {
    content: "parts",
    call_id: "id",
    result_id: "id",
    name: "name",
    input: "args",
    output: "response",
    shown: &["response", "parts"],
    result_known: &["id", "name"],
    wrappers: &["functionCall", "function_call", "functionResponse", "function_response"],
};

impl Blocks for Writer {
    fn keys(&self) -> &'static Keys {
        &KEYS
    }

    fn role_name(&self, role: Role) -> &'static str {
        if role == Role::Assistant { "model" } else { "user" }
    }

    fn text<'a>(&self, text: Json<'a>) -> Json<'a> {
        object([("text", text)])
    }

    /// A call without an id has its name in place of one, which is not written.
    fn call<'a>(&self, id: &str, name: &str, input: Json<'a>) -> Json<'a> {
        object([("functionCall", function_call((id != name).then_some(id), name, input))])
    }

    fn result(&self, result: &LiftedResult) -> Json<'static> {
        object([("functionResponse", response(result, Some(&result.id)))])
    }

    fn answered_call(&self, answered: &AnsweredCall<'_>) -> Json<'static> {
        let id = answered.has_id.then_some(answered.call.id.as_str());
        object([("functionResponse", response(&answered.result(), id))])
    }

    fn thought(&self, reasoning: &Reasoning) -> Option<Json<'static>> {
        let seal = reasoning.seal.clone().unwrap_or_default();
        let thought = ("thought", Json::Bool(true));
        Some(object([member("text", &reasoning.text), thought, member("thoughtSignature", seal)]))
    }

    fn shown(&self, media: &Media) -> Option<Json<'static>> {
        let mime = member("mimeType", mime(media));
        Some(match &media.source {
            MediaSource::Data(data) => object([("inlineData", object([mime, member("data", data)]))]),
            MediaSource::Url(uri) | MediaSource::File(_, uri) => {
                object([("fileData", object([mime, member("fileUri", uri)]))])
            }
        })
    }

    /// Only the first of parallel calls is signed.
    fn content(&self, blocks: &[LiftedBlock]) -> Json<'static> {
        let mut sentinel = Some(NO_SIGNATURE.to_owned());
        let part = |said: &LiftedBlock| match &said.says {
            Says::Call(call) => Some(signed_call(call, sentinel.take())),
            _ => block(self, said),
        };
        list(blocks.iter().filter_map(part).collect())
    }

    fn made_up_result(&self, call: Value<'_, '_>, _id: &str, text: &str) -> Json<'static> {
        let snake = call.object().is_some_and(|part| part.get("function_call").is_some());
        let fields = crate::blocks::fields_of(&KEYS, call);
        let (id, name) = (own_id(fields), text_of(fields, "name").map(Cow::into_owned));
        let response = response(&synthetic("", name, text), id.as_deref());
        object([(if snake { "function_response" } else { "functionResponse" }, response)])
    }

    /// A result names the id of its call if the call has one, or else only its name.
    fn addressed(&self, result: Value<'_, '_>, id: &str, call: Option<Value<'_, '_>>) -> Vec<Patch> {
        let name = call.and_then(|call| text_of(call, "name"));
        let named = name.as_deref().filter(|name| *name != id).map(|name| ("name", quoted(name)));
        let by_id = match call {
            Some(call) => own_id(call).is_some() || named.is_some(),
            None => own_id(result).is_some(),
        };
        if by_id {
            return set_members(result, [("id", quoted(id))].into_iter().chain(named));
        }
        set_member(result, "name", &quoted(id)).into_iter().chain(cuts(result, &["id"])).collect()
    }

    fn part_text<'d, 'a>(&self, part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
        part.object()?.get("text").filter(|text| text.is(Kind::String))
    }

    fn filled(&self, output: Option<Value<'_, '_>>, text: &str) -> String {
        match output.filter(|output| !output.is(Kind::Null)) {
            Some(output) if output.is(Kind::Object) => output.raw().to_owned(),
            Some(output) => format!("{{\"output\":{}}}", output.raw()),
            None if text.is_empty() => "{}".to_owned(),
            None => format!("{{\"output\":{}}}", quoted(text)),
        }
    }

    fn kept<'a>(&self, result: Value<'_, 'a>, fenced: &Fenced) -> Vec<Json<'a>> {
        let held = |key| result.object().and_then(|members| members.get(key));
        // Media of a result are parts themselves.
        let media: Vec<_> =
            held("parts").into_iter().flat_map(Value::elements).map(|part| Json::Raw(part.raw())).collect();
        let said = match held("response") {
            Some(response) => Said::of(response),
            None => Said::Lines(Vec::new()),
        };
        match said {
            Said::String(text) if media.is_empty() => vec![self.text(fenced.string(text))],
            Said::Source(text) if media.is_empty() => vec![self.text(fenced.text(text))],
            Said::Lines(lines) if media.is_empty() && lines.is_empty() => vec![self.text(fenced.nothing())],
            Said::String(text) => {
                fenced.blocks(std::iter::once(self.text(Json::Raw(text.raw()))).chain(media), |text| self.text(text))
            }
            Said::Source(text) => {
                let text = self.text(Json::Text(text.to_owned()));
                fenced.blocks(std::iter::once(text).chain(media), |text| self.text(text))
            }
            Said::Lines(lines) => {
                let lines = lines.into_iter().map(|line| self.text(line));
                fenced.blocks(lines.chain(media), |text| self.text(text))
            }
        }
    }

    fn signed(&self, call: Value<'_, '_>, signature: &str) -> Vec<Patch> {
        let snake = call.object().is_some_and(|part| part.get("function_call").is_some());
        let key = if snake { "thought_signature" } else { "thoughtSignature" };
        set_member(call, key, &quoted(signature)).into_iter().collect()
    }
}

/// The content of a response as text.
enum Said<'d, 'a> {
    /// The text of one string.
    String(Value<'d, 'a>),
    /// A value of another kind, by its source.
    Source(&'a str),
    /// A line for each member.
    Lines(Vec<Json<'a>>),
}

impl<'d, 'a> Said<'d, 'a> {
    fn of(response: Value<'d, 'a>) -> Self {
        if response.is(Kind::String) {
            return Self::String(response);
        }
        if let Some(text) = wire::only_member(response) {
            return Self::String(text);
        }
        if !response.is(Kind::Object) {
            return Self::Source(response.raw());
        }
        let line = |(key, value): (Value<'d, 'a>, Value<'d, 'a>)| {
            let key = format!("{}: ", key.name());
            match value.kind() {
                Kind::String => Json::Joined(Box::new((key, value.raw_str(), String::new()))),
                _ => Json::Text(format!("{key}{}", value.raw())),
            }
        };
        Self::Lines(response.members().map(line).collect())
    }
}

/// Writes a call with its signature, or with the one for calls that have none.
fn signed_call(call: &LiftedCall, sentinel: Option<String>) -> Json<'static> {
    let args = Json::Written(call.input.clone());
    let mut members = vec![("functionCall", function_call(Some(&call.id), &call.name, args))];
    members.extend(call.signature.clone().or(sentinel).map(|seal| member("thoughtSignature", seal)));
    Json::Object(members)
}

/// Writes a result, without the object around it. Where its call has no id it has none: calls without ids are paired
/// by their order.
fn response(result: &LiftedResult, id: Option<&str>) -> Json<'static> {
    let texts = result
        .blocks
        .iter()
        .filter_map(|block| if let Says::Text(text) = &block.says { Some(text.as_str()) } else { None });
    let said = texts.collect::<Vec<_>>().join("\n");
    let key = if result.failed { "error" } else { "output" };
    let name = result.name.clone().unwrap_or_default();
    let response = ("response", object([member(key, said)]));
    Json::Object(id.map(|id| member("id", id)).into_iter().chain([member("name", name), response]).collect())
}

/// Writes a call, without the object around it.
fn function_call<'a>(id: Option<&str>, name: &str, args: Json<'a>) -> Json<'a> {
    Json::Object(id.map(|id| member("id", id)).into_iter().chain([member("name", name), ("args", args)]).collect())
}

/// The id that a call or result has itself.
fn own_id<'a>(fields: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    text_of(fields, "id").filter(|id| !id.is_empty())
}

fn text_of<'a>(fields: Value<'_, 'a>, key: &str) -> Option<Cow<'a, str>> {
    fields.object().and_then(|members| members.get(key)).and_then(Value::str)
}
