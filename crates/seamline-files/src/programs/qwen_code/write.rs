//! Writes a repaired conversation as records of Qwen Code.

use super::read::compressed;
use crate::json::{Object, members, quoted, relisted, string};
use crate::session::{Links, NewMessage, NewRecord, Reading, RecordRepair, ReturnedMessage, Writer, uuid};

const WRITER: Writer = Writer {
    links: Some(Links { id: "uuid", parent: "parentUuid", new_id: uuid }),
    blocks: "parts",
    rewrite,
    write: new_record,
};

/// Writes the records. The messages of a compression are in one record, and all other records hold one message.
pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let count = compressed_messages(repair);
    let is_later = |message: &ReturnedMessage<'_>| message.origin.is_some_and(|origin| origin >= count);
    // New messages before the first later one belong to the compression: its record is before all others.
    let border = match count {
        0 => 0,
        _ => repair.messages.iter().position(is_later).unwrap_or(repair.messages.len()),
    };
    let (history, later) = repair.messages.split_at(border);
    if later.iter().any(|message| message.origin.is_some_and(|origin| origin < count)) {
        return None;
    }
    let apart: Vec<(Option<usize>, String)> = later.iter().flat_map(one_result_each).collect();
    let later: Vec<ReturnedMessage<'_>> = apart
        .iter()
        .map(|(origin, text)| ReturnedMessage { origin: origin.map(|origin| origin - count), text: text.as_str() })
        .collect();
    let reading = Reading { messages: repair.reading.messages[count..].to_vec(), ..repair.reading.clone() };
    let mut records = RecordRepair { records: repair.records, reading: &reading, messages: &later }.write(&WRITER)?;
    if count > 0 {
        let first = repair.reading.messages[0].record;
        let changed = recompressed(repair, history)?;
        records
            .iter_mut()
            .filter(|record| record.origin == Some(first))
            .for_each(|record| record.text.clone_from(&changed));
    }
    Some(records)
}

/// The number of messages that a compression holds. They are the first ones.
fn compressed_messages(repair: &RecordRepair<'_>) -> usize {
    let Some(first) = repair.reading.messages.first().map(|first| first.record) else { return 0 };
    let subtype = members(repair.records[first], &["subtype"]).ok().and_then(|[subtype]| subtype).and_then(string);
    match subtype.as_deref() {
        Some("chat_compression") => {
            repair.reading.messages.iter().take_while(|message| message.record == first).count()
        }
        _ => 0,
    }
}

/// A new message with the results of several calls becomes one message for each.
fn one_result_each(message: &ReturnedMessage<'_>) -> Vec<(Option<usize>, String)> {
    let object = Object::of(message.text).filter(|_| message.origin.is_none());
    let parts = object.as_ref().map(|object| object.list("parts")).unwrap_or_default();
    let are_results = parts.iter().all(|part| call_id(part).is_some());
    match object {
        Some(object) if parts.len() > 1 && are_results => {
            parts.iter().map(|part| (None, object.with(&[("parts", Some(format!("[{part}]")))]))).collect()
        }
        _ => vec![(message.origin, message.text.to_owned())],
    }
}

/// The id of the call that a part answers, as JSON.
pub(super) fn call_id(part: &str) -> Option<&str> {
    let [result] = members(part, &["functionResponse"]).ok()?;
    let [id] = members(result?, &["id"]).ok()?;
    id
}

/// The record of a compression with another history.
fn recompressed(repair: &RecordRepair<'_>, history: &[ReturnedMessage<'_>]) -> Option<String> {
    let carried = &repair.reading.messages;
    let record = repair.records[carried[0].record];
    let object = Object::of(record)?;
    let old = compressed(object.get("systemPayload"))?;
    let is_sent = |at: &usize| carried.iter().any(|message| message.record == carried[0].record && message.part == *at);
    let mut unsent = (0..old.len()).filter(|at| !is_sent(at)).peekable();
    let mut pieces: Vec<&str> = Vec::new();
    for message in history {
        let known = message.origin.map(|origin| &carried[origin]);
        while let Some(at) = unsent.next_if(|at| known.is_some_and(|known| *at < known.part)) {
            pieces.push(old[at]);
        }
        let same = known.filter(|known| known.text == message.text).and_then(|known| old.get(known.part));
        pieces.push(same.copied().unwrap_or(message.text));
    }
    pieces.extend(unsent.map(|at| old[at]));
    if pieces == old {
        return Some(record.to_owned());
    }
    let pieces: Vec<String> = pieces.into_iter().map(str::to_owned).collect();
    let payload = Object::of(object.get("systemPayload")?)?;
    let list = relisted(payload.get("compressedHistory")?, &pieces);
    let payload = payload.with(&[("compressedHistory", Some(list))]);
    Some(object.with(&[("systemPayload", Some(payload))]))
}

/// Writes a record with other parts.
fn rewrite(record: &str, message: &str) -> Option<String> {
    let object = Object::of(record)?;
    let [role, parts] = members(message, &["role", "parts"]).ok()?;
    let (role, parts) = (role?, parts?);
    let old = Object::of(object.get("message")?)?;
    let layout = old.get("parts").unwrap_or("[]");
    let pieces: Vec<String> = Object::of(message)?.list("parts").into_iter().map(str::to_owned).collect();
    let new = old.with(&[("role", Some(role.to_owned())), ("parts", Some(relisted(layout, &pieces)))]);
    let mut changes = vec![("message", Some(new))];
    if object.says("type", &["tool_result"]) && !parts.contains("\"functionResponse\"") {
        // The result is a text now. What the program shows of it stays.
        changes.push(("type", Some(quoted("user"))));
        if object.get("provenance").is_some() {
            changes.push(("provenance", Some(quoted("system"))));
        }
    }
    Some(object.with(&changes))
}

/// The members that a new record takes over from the record before it.
const SHARED: [&str; 4] = ["cwd", "version", "gitBranch", "agentId"];

fn new_record(new: &NewMessage<'_>) -> Option<String> {
    let beside = Object::of(new.after)?;
    let message = Object::of(new.message)?;
    let result = message.list("parts").first().and_then(|part| call_id(part)).map(str::to_owned);
    let (kind, provenance) = match (message.says("role", &["model"]), &result) {
        (true, _) => ("assistant", "assistant_output"),
        (false, Some(_)) => ("tool_result", "tool_result"),
        (false, None) => ("user", "system"),
    };
    let member = |name: &str| Some(format!(",\"{name}\":{}", beside.get(name)?));
    let shared: String = SHARED.iter().filter_map(|name| member(name)).collect();
    let provenance = beside.get("provenance").map(|_| format!(",\"provenance\":\"{provenance}\""));
    let outcome = result.map(|id| format!(",\"toolCallResult\":{{\"callId\":{id},\"status\":\"error\"}}"));
    Some(format!(
        "{{\"uuid\":{},\"parentUuid\":{}{}{},\"type\":\"{kind}\"{}{shared},\"message\":{}{}}}",
        quoted(new.id),
        new.parent,
        member("sessionId").unwrap_or_default(),
        member("timestamp").unwrap_or_default(),
        provenance.unwrap_or_default(),
        new.message,
        outcome.unwrap_or_default(),
    ))
}
