//! Writes a message of a session with other parts.

use super::turn::{Source, has};
use crate::json::{Object, elements, members, quoted, relisted, string};

/// A part of a message after a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewPart {
    /// The place of the part in the message; nothing for a new part.
    pub(super) source: Option<Source>,
    /// The part as JSON.
    pub(super) text: String,
    /// Whether the repair left the part as it was.
    pub(super) is_same: bool,
}

/// Writes a message with other parts: those of its own turn, and those of the results of its calls. Returns nothing if the
/// message cannot hold them.
pub(super) fn message(old: &str, own: &[NewPart], results: &[NewPart]) -> Option<String> {
    let object = Object::of(old)?;
    let calls = object.get("toolCalls").and_then(elements).unwrap_or_default();
    let is_complete = own.iter().any(|part| is_call(part) && matches!(part.source, Some(Source::KeptTexts(_))));
    let is_listed =
        |part: &&NewPart| is_call(part) && !is_complete && !matches!(part.source, Some(Source::KeptTexts(_)));
    let (listed, said): (Vec<&NewPart>, Vec<&NewPart>) = own.iter().partition(is_listed);
    let mut changes = Vec::new();
    if let Some(content) = content(object.get("content").unwrap_or("\"\""), &said) {
        changes.push(("content", Some(content)));
    }
    let is_rebuilt = object.says("type", &["gemini"]) && !is_complete && !has_all_parts(&object);
    let written = tool_calls(&calls, is_rebuilt.then_some(&listed), results, object.get("timestamp"))?;
    if let Some(written) = written {
        changes.push(("toolCalls", Some(relisted(object.get("toolCalls").unwrap_or("[]"), &written))));
    }
    Some(object.with(&changes))
}

fn is_call(part: &NewPart) -> bool {
    has(&part.text, "functionCall")
}

/// Whether the content of a message has its calls, so that Gemini CLI does not take them from the list of calls.
fn has_all_parts(message: &Object<'_>) -> bool {
    message.list("content").iter().any(|part| has(part, "functionCall") || has(part, "thought"))
}

/// The content with other parts; nothing if it stays as it is. Elements that Gemini CLI does not send stay.
fn content(old: &str, said: &[&NewPart]) -> Option<String> {
    let list = elements(old);
    let sent = list.as_ref().map_or(usize::from(!matches!(old, "\"\"" | "null")), |list| {
        list.iter().filter(|part| !has(part, "thought") && **part != "{\"text\":\"\"}").count()
    });
    if said.len() == sent && said.iter().all(|part| part.is_same) {
        return None;
    }
    let Some(list) = list else {
        return Some(match said {
            [] => "\"\"".to_owned(),
            [part] if plain_text(&part.text).is_some() => plain_text(&part.text).unwrap_or_default(),
            _ => format!("[{}]", said.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(",")),
        });
    };
    let is_unsent = |index: &usize| has(list[*index], "thought") || list[*index] == "{\"text\":\"\"}";
    let mut unsent = (0..list.len()).filter(is_unsent).peekable();
    let mut pieces = Vec::new();
    for part in said {
        let place = match part.source {
            Some(Source::KeptTexts(place)) => Some(place),
            _ => None,
        };
        while let Some(before) = unsent.next_if(|before| place.is_some_and(|place| *before < place)) {
            pieces.push(list[before].to_owned());
        }
        let kept = place.filter(|_| part.is_same).and_then(|place| list.get(place).copied());
        pieces.push(kept.unwrap_or(&part.text).to_owned());
    }
    pieces.extend(unsent.map(|index| list[index].to_owned()));
    Some(relisted(old, &pieces))
}

/// The text of a part that has only a text, as JSON.
fn plain_text(part: &str) -> Option<String> {
    let object = Object::of(part)?;
    let text = object.get("text").filter(|text| text.starts_with('"'))?;
    object.has_only(&["text"]).then(|| text.to_owned())
}

/// The list of calls with other calls and results; the inner nothing means that it stays as it is.
#[expect(clippy::option_option, reason = "a list that stays is not a list that cannot be written")]
fn tool_calls(
    old: &[&str],
    listed: Option<&Vec<&NewPart>>,
    results: &[NewPart],
    time: Option<&str>,
) -> Option<Option<Vec<String>>> {
    let homes = homes(old, results);
    let mut written = Vec::new();
    let mut is_changed = false;
    for (index, call) in old.iter().enumerate() {
        let own: Vec<&NewPart> =
            results.iter().zip(&homes).filter(|(_, home)| **home == Some(index)).map(|(part, _)| part).collect();
        let made = listed.map(|listed| listed.iter().find(|part| part.source == Some(Source::Call(index))));
        if made == Some(None) {
            // The call is gone, so nothing can hold its results.
            is_changed = true;
            if !own.is_empty() {
                return None;
            }
            continue;
        }
        let changed = tool_call(call, made.flatten().copied(), &own)?;
        is_changed |= changed != *call;
        written.push(changed);
    }
    for part in listed.into_iter().flatten().filter(|part| part.source.is_none()) {
        written.push(new_call(&part.text, time)?);
        is_changed = true;
    }
    if homes.contains(&None) {
        return None;
    }
    Some(is_changed.then_some(written))
}

/// The call that each part of the results belongs to: the one with its id, the one that had it, or the one of the part
/// before it.
fn homes(calls: &[&str], results: &[NewPart]) -> Vec<Option<usize>> {
    let ids: Vec<Option<&str>> = calls.iter().map(|call| members(call, &["id"]).ok().and_then(|[id]| id)).collect();
    let mut last = None;
    let mut home = |part: &NewPart| {
        let id = result_members(&part.text).and_then(|[id, _]| id);
        let named = ids.iter().position(|known| known.is_some() && *known == id);
        let had = match part.source {
            Some(Source::Result(call, _)) => Some(call),
            _ => None,
        };
        let first = (!calls.is_empty()).then_some(0);
        last = named.or(had).or(last).or(first);
        last
    };
    results.iter().map(&mut home).collect()
}

/// The id and the name of a tool result.
pub(super) fn result_members(part: &str) -> Option<[Option<&str>; 2]> {
    let [result] = members(part, &["functionResponse"]).ok()?;
    members(result?, &["id", "name"]).ok()
}

/// A call with another input or other results.
fn tool_call(old: &str, made: Option<&NewPart>, results: &[&NewPart]) -> Option<String> {
    let object = Object::of(old)?;
    let mut changes = Vec::new();
    if let Some(made) = made.filter(|made| !made.is_same) {
        let [call] = members(&made.text, &["functionCall"]).ok()?;
        let call = Object::of(call?)?;
        changes.extend(["id", "name", "args"].map(|name| (name, call.get(name).map(str::to_owned))));
    }
    let before = object.get("result").filter(|result| !matches!(*result, "null" | "\"\""));
    let count = before.map_or(0, |before| elements(before).map_or(1, |list| list.len()));
    if results.len() != count || results.iter().any(|part| !part.is_same) {
        let list = before.and_then(elements);
        let piece = |part: &&NewPart| {
            let kept = match (part.source, &list) {
                (Some(Source::Result(_, at)), Some(list)) if part.is_same => list.get(at).copied(),
                _ => None,
            };
            kept.unwrap_or(&part.text).to_owned()
        };
        let pieces: Vec<String> = results.iter().map(piece).collect();
        let layout = before.filter(|_| list.is_some()).unwrap_or("[]");
        changes.push(("result", Some(relisted(layout, &pieces))));
        if count == 0 && !object.says("status", &["error", "cancelled"]) {
            let has_failed = results.iter().any(|part| is_failure(&part.text));
            changes.push(("status", Some(quoted(if has_failed { "error" } else { "success" }))));
        }
    }
    Some(if changes.is_empty() { old.to_owned() } else { object.with(&changes) })
}

/// Whether a tool result is an error.
pub(super) fn is_failure(part: &str) -> bool {
    let inner = |text: &str, name: &str| members(text, &[name]).ok().and_then(|[value]| value).map(str::to_owned);
    inner(part, "functionResponse")
        .and_then(|result| inner(&result, "response"))
        .is_some_and(|response| has(&response, "error"))
}

/// The record of a call that the message did not have.
fn new_call(part: &str, time: Option<&str>) -> Option<String> {
    let [call] = members(part, &["functionCall"]).ok()?;
    let call = Object::of(call?)?;
    let named = ["id", "name", "args"].into_iter().filter_map(|name| Some(format!("\"{name}\":{},", call.get(name)?)));
    let time = time.map(|time| format!(",\"timestamp\":{time}")).unwrap_or_default();
    Some(format!("{{{}\"result\":null,\"status\":\"error\"{time}}}", named.collect::<String>()))
}

/// A message that the session did not have.
pub(super) fn new_message(kind: &str, parts: &[&str], beside: &str, id: &str) -> Option<String> {
    let [time] = members(beside, &["timestamp"]).ok()?;
    let time = time.filter(|time| string(time).is_some()).map(|time| format!("\"timestamp\":{time},"));
    let (id, time, parts) = (quoted(id), time.unwrap_or_default(), parts.join(","));
    Some(format!("{{\"id\":{id},{time}\"type\":\"{kind}\",\"content\":[{parts}]}}"))
}
