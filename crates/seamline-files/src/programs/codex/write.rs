//! Writes a repaired conversation as records of Codex.

use super::ordinals::renumber;
use super::replay::summary;
use crate::json::{Object, elements, members, relisted};
use crate::session::{
    CarriedMessage, NewMessage, NewRecord, Reading, RecordRepair, ReturnedMessage, Writer, longest_rising,
};

const WRITER: Writer = Writer { links: None, blocks: "content", rewrite, write: new_record };

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let mut records = match base(repair) {
        Some(base) => write_history(repair, base)?,
        None => repair.write(&WRITER)?,
    };
    // Without its summary a compaction would bring back everything that it replaced.
    let has_lost_summary = repair.reading.messages.iter().any(|message| {
        is_compaction(repair.records[message.record])
            && !records.iter().any(|record| record.origin == Some(message.record))
    });
    if has_lost_summary {
        return None;
    }
    renumber(&mut records);
    Some(records)
}

fn is_compaction(record: &str) -> bool {
    members(record, &["type"]).is_ok_and(|[kind]| kind == Some("\"compacted\""))
}

/// The record whose history the conversation begins with.
fn base(repair: &RecordRepair<'_>) -> Option<usize> {
    let record = repair.reading.messages.first()?.record;
    let payload = members(repair.records[record], &["payload"]).ok()?[0]?;
    let [history] = members(payload, &["replacement_history"]).ok()?;
    history.and_then(elements).map(|_| record).filter(|record| is_compaction(repair.records[*record]))
}

/// Writes a conversation that begins with the history of a compaction. Messages before the first one with a record of its
/// own belong to that history.
fn write_history(repair: &RecordRepair<'_>, base: usize) -> Option<Vec<NewRecord>> {
    let old = &repair.reading.messages;
    let split = old.iter().take_while(|message| message.record == base).count();
    let origins: Vec<usize> = repair.messages.iter().filter_map(|message| message.origin).collect();
    let stays = longest_rising(&origins);
    let is_own = |message: &ReturnedMessage<'_>| message.origin.is_some_and(|at| at >= split && stays.contains(&at));
    let end = repair.messages.iter().position(is_own).unwrap_or(repair.messages.len());
    let (inside, behind) = repair.messages.split_at(end);

    // A message that moves out of the history gets a record of its own.
    let behind: Vec<ReturnedMessage<'_>> = behind
        .iter()
        .map(|message| ReturnedMessage {
            origin: message.origin.and_then(|at| at.checked_sub(split)),
            text: message.text,
        })
        .collect();
    let reading =
        Reading { messages: old[split..].to_vec(), chain: repair.reading.chain.clone(), ..Reading::default() };
    let rest = RecordRepair { records: repair.records, reading: &reading, messages: &behind };
    let mut records = rest.write(&WRITER)?;
    let text = with_history(repair.records[base], &old[..split], inside)?;
    records.iter_mut().find(|record| record.origin == Some(base))?.text = text;
    Some(records)
}

/// Writes a compaction with another history.
fn with_history(record: &str, old: &[CarriedMessage], messages: &[ReturnedMessage<'_>]) -> Option<String> {
    let record = Object::of(record)?;
    let payload = Object::of(record.get("payload")?)?;
    let list = payload.list("replacement_history");
    let notes = payload.list("replacement_history_metadata");
    let sent: Vec<usize> = old.iter().map(|message| message.part).collect();
    // The items that Codex does not send stay behind the item that they follow.
    let mut unsent = (0..list.len()).filter(|part| !sent.contains(part)).peekable();
    let mut parts: Vec<(Option<usize>, String)> = Vec::new();
    for message in messages {
        let part = message.origin.and_then(|at| old.get(at)).map(|message| message.part);
        if let Some(part) = part {
            while let Some(before) = unsent.next_if(|before| *before < part) {
                parts.push((Some(before), list[before].to_owned()));
            }
        }
        let item = match part.map(|part| list[part]) {
            Some(item) if is_unchanged(message, old) => item.to_owned(),
            Some(item) => changed(item, message.text)?,
            None => full(message.text)?,
        };
        parts.push((part, item));
    }
    parts.extend(unsent.map(|part| (Some(part), list[part].to_owned())));
    let (parts, texts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut changes = vec![("replacement_history", Some(relisted(payload.get("replacement_history")?, &texts)))];
    if let Some(noted) = payload.get("replacement_history_metadata").filter(|_| !notes.is_empty()) {
        // Codex refuses a list that is not as long as the history.
        let note = |part: &Option<usize>| part.and_then(|part| notes.get(part)).map_or("{}", |note| *note).to_owned();
        let notes: Vec<String> = parts.iter().map(note).collect();
        changes.push(("replacement_history_metadata", Some(relisted(noted, &notes))));
    }
    Some(record.with(&[("payload", Some(payload.with(&changes)))]))
}

fn is_unchanged(message: &ReturnedMessage<'_>, old: &[CarriedMessage]) -> bool {
    message.origin.and_then(|at| old.get(at)).is_some_and(|old| old.text == message.text)
}

/// A changed item, with the id that reasoning has in its record and not in the carrier.
fn changed(item: &str, message: &str) -> Option<String> {
    let message = full(message)?;
    let (old, new) = (Object::of(item)?, Object::of(&message)?);
    let are_reasoning = [&old, &new].iter().all(|item| item.says("type", &["reasoning"]));
    let id = old.get("id").filter(|_| are_reasoning && new.get("id").is_none()).map(str::to_owned);
    Some(if id.is_some() { new.with(&[("id", id)]) } else { message })
}

/// An item in the only form that Codex reads: the provider also takes messages without a type, and text outside of a list.
pub(super) fn full(message: &str) -> Option<String> {
    let item = Object::of(message)?;
    let (kind, role, content) = (item.string("type"), item.string("role"), item.get("content"));
    if kind.as_deref().is_some_and(|kind| kind != "message") {
        return Some(message.to_owned());
    }
    let block = if role? == "assistant" { "output_text" } else { "input_text" };
    let content = content.filter(|content| content.starts_with('"'));
    let list = content.map(|text| format!(r#"[{{"type":"{block}","text":{text}}}]"#));
    let text = if list.is_some() { item.with(&[("content", list)]) } else { message.to_owned() };
    Some(if kind.is_some() { text } else { text.replacen('{', r#"{"type":"message","#, 1) })
}

fn rewrite(record: &str, message: &str) -> Option<String> {
    let object = Object::of(record)?;
    let Some(payload) = object.get("payload") else { return changed(record, message) };
    if object.says("type", &["compacted"]) {
        let payload = Object::of(payload)?.with(&[("message", Some(summary(message)?))]);
        return Some(object.with(&[("payload", Some(payload))]));
    }
    let item = ("payload", Some(changed(payload, message)?));
    Some(object.with(&[("type", Some("\"response_item\"".to_owned())), item]))
}

/// Writes a new record. Its number is that of the record before it, until all records are numbered again.
fn new_record(new: &NewMessage<'_>) -> Option<String> {
    let (beside, item) = (Object::of(new.after)?, full(new.message)?);
    if beside.get("payload").is_none() {
        return Some(item);
    }
    let shared = ["timestamp", "ordinal"].map(|name| beside.get(name).map(|value| format!("\"{name}\":{value},")));
    let shared: String = shared.into_iter().flatten().collect();
    Some(format!("{{{shared}\"type\":\"response_item\",\"payload\":{item}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_get_the_form_that_codex_reads() {
        let long = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}"#;
        assert_eq!(full(r#"{"role":"user","content":"a"}"#).as_deref(), Some(long));
        assert_eq!(full(long).as_deref(), Some(long));
        let said = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}],"id":"m"}"#;
        let short = r#"{"type":"message","role":"assistant","content":"b","id":"m"}"#;
        assert_eq!(full(short).as_deref(), Some(said));
        let call = r#"{"type":"function_call","name":"a"}"#;
        assert_eq!(full(call).as_deref(), Some(call));
    }

    #[test]
    fn changed_reasoning_keeps_its_id() {
        let record =
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","id":"rs_1","summary":[]}}"#;
        let changed = rewrite(record, r#"{"type":"reasoning","summary":["x"]}"#).unwrap();
        let expected =
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","summary":["x"],"id":"rs_1"}}"#;
        assert_eq!(changed, expected);
    }
}
