//! Calls and results in the form of Anthropic's Messages, in a history that was converted only in part.

use seamline_model::{BlockKind, Call, Parts, ResultBlock, Span, Synthetic, WireId};

use crate::json::{Kind, Object, Value};
use crate::members::is_hollow;
use crate::no_message::is_typed;
use crate::reader::Reader;
use crate::reading::input;

/// Reads a block as such a call or result, and writes it in the form of this dialect. Returns nothing if it is another block, or
/// if it holds something that has no place in that form.
pub(super) fn pair(block: Value<'_, '_>, reader: &mut Reader<'_>) -> Option<(String, BlockKind)> {
    let members = block.object()?;
    if is_typed(members, &["tool_use"]) {
        call(block, members, reader)
    } else if is_typed(members, &["tool_result"]) {
        result(block, members)
    } else {
        None
    }
}

fn call(block: Value<'_, '_>, members: Object<'_, '_>, reader: &mut Reader<'_>) -> Option<(String, BlockKind)> {
    let [id, name, held] = members.values(["id", "name", "input"]);
    let (id, name) = (text(id)?, text(name)?);
    let held = held.filter(|held| held.is(Kind::Object))?;
    if !has_only(block, &["type", "id", "name", "input"]) {
        return None;
    }
    let own = format!(
        "{{\"toolUse\": {{\"toolUseId\": {}, \"name\": {}, \"input\": {}}}}}",
        id.raw(),
        name.raw(),
        held.raw()
    );
    let (id, name) = (id.str()?, name.str()?);
    let call = Call::new(Some(&id), Some(&name), input(Some(held)), &mut reader.transcript.tools);
    Some((own, BlockKind::Call(call)))
}

fn result(block: Value<'_, '_>, members: Object<'_, '_>) -> Option<(String, BlockKind)> {
    let [id, content, error] = members.values(["tool_use_id", "content", "is_error"]);
    let id = text(id)?;
    if !has_only(block, &["type", "tool_use_id", "content", "is_error"]) {
        return None;
    }
    let content = content?;
    let texts: Vec<Value<'_, '_>> = match content.kind() {
        Kind::String => vec![content],
        Kind::Array => content.elements().map(plain_text).collect::<Option<_>>()?,
        _ => return None,
    };
    let written: Vec<String> = texts.iter().map(|text| format!("{{\"text\": {}}}", text.raw())).collect();
    let failed = error.is_some_and(|error| error.is(Kind::True));
    let status = if failed { ", \"status\": \"error\"" } else { "" };
    let own =
        format!("{{\"toolResult\": {{\"toolUseId\": {}, \"content\": [{}]{status}}}}}", id.raw(), written.join(", "));
    let read = ResultBlock {
        id: id.str().as_deref().map(WireId::from),
        tool: None,
        synthetic: Synthetic::No,
        failed,
        has_more: false,
        // Its content is judged once it has the form of this dialect.
        parts: Parts::Text,
        content: Span::default(),
    };
    Some((own, BlockKind::Result(read)))
}

/// The text of a part that is nothing else.
fn plain_text<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let members = part.object().filter(|members| is_typed(*members, &["text"]))?;
    members.get("text").filter(|text| text.is(Kind::String) && has_only(part, &["type", "text"]))
}

/// Whether an object has only these members and marks for the cache.
fn has_only(value: Value<'_, '_>, keys: &[&str]) -> bool {
    let is_known = |key: &str| keys.contains(&key) || key == "cache_control";
    value.members().all(|(key, member)| is_known(&key.name()) || is_hollow(member))
}

fn text<'d, 'a>(value: Option<Value<'d, 'a>>) -> Option<Value<'d, 'a>> {
    value.filter(|value| value.is(Kind::String))
}
