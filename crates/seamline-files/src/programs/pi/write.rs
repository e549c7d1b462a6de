//! Writes a repaired conversation as records of `pi`.

use std::collections::HashMap;

use crate::json::{Object, quoted};
use crate::native::message::Message;
use crate::native::openclaw::SHAPE;
use crate::session::{Links, NewMessage, NewRecord, RecordRepair, Writer};

const WRITER: Writer = Writer {
    links: Some(Links { id: "id", parent: "parentId", new_id }),
    blocks: "content",
    rewrite,
    write: new_record,
};

/// The writer for files of version 1, whose records have no ids.
const LINEAR: Writer = Writer { links: None, write: new_linear_record, ..WRITER };

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let is_linked = repair.reading.chain.iter().any(|record| has_id(repair.records[*record]));
    let writer = if is_linked { &WRITER } else { &LINEAR };
    let first = repair.reading.messages.first().map(|message| message.record);
    let is_compaction = |record: &usize| says_compaction(repair.records[*record]);
    let mut records = repair.write_behind(first.filter(is_compaction), writer)?;
    name_tools(repair, &mut records);
    follow_leaf(&mut records);
    Some(records)
}

fn has_id(record: &str) -> bool {
    Object::of(record).is_some_and(|record| record.get("id").is_some())
}

fn says_compaction(record: &str) -> bool {
    Object::of(record).is_some_and(|record| record.says("type", &["compaction"]))
}

/// Gives new results the names of their tools.
fn name_tools(repair: &RecordRepair<'_>, records: &mut [NewRecord]) {
    let messages = repair.messages.iter().filter_map(|message| Message::of_carrier(message.text));
    let tools: HashMap<String, String> =
        messages.flat_map(|message| message.calls).filter_map(|call| Some((call.id?, call.name?))).collect();
    for record in records.iter_mut().filter(|record| record.origin.is_none()) {
        let named = || {
            let object = Object::of(&record.text)?;
            let message = Object::of(object.get("message")?)?;
            let tool = tools.get(&message.string("toolCallId")?)?;
            Some(object.with(&[("message", Some(message.with(&[("toolName", Some(quoted(tool)))])))]))
        };
        if let Some(text) = named() {
            record.text = text;
        }
    }
}

/// Lets a last record that names the leaf name the new records behind that leaf.
fn follow_leaf(records: &mut [NewRecord]) {
    let new = records.iter().filter(|record| record.origin.is_none()).filter_map(|record| Object::of(&record.text));
    let children: HashMap<String, String> =
        new.filter_map(|record| Some((record.string("parentId")?, record.string("id")?))).collect();
    let Some(last) = records.last_mut() else { return };
    let Some(object) = Object::of(&last.text).filter(|record| record.says("type", &["leaf"])) else { return };
    let Some(mut leaf) = object.string("targetId") else { return };
    while let Some(child) = children.get(&leaf) {
        leaf.clone_from(child);
    }
    last.text = object.with(&[("targetId", Some(quoted(&leaf)))]);
}

/// The id of an entry: 8 hexadecimal digits.
fn new_id(hash: &str) -> String {
    hash.chars().take(8).collect()
}

/// Roles whose text a repair can change.
const WRITABLE: [&str; 4] = ["user", "assistant", "toolResult", "system"];

fn rewrite(record: &str, message: &str) -> Option<String> {
    let object = Object::of(record)?;
    let entry = Object::of(object.get("message")?).filter(|entry| entry.says("role", &WRITABLE))?;
    Some(object.with(&[("message", Some(SHAPE.with_message(&entry, message)?))]))
}

fn new_record(new: &NewMessage<'_>) -> Option<String> {
    let links = format!(r#""id":{},"parentId":{},"#, quoted(new.id), new.parent);
    written(new, &links)
}

fn new_linear_record(new: &NewMessage<'_>) -> Option<String> {
    written(new, "")
}

fn written(new: &NewMessage<'_>, links: &str) -> Option<String> {
    let beside = Object::of(new.after)?;
    let said = beside.get("message").and_then(Object::of);
    let time = beside.get("timestamp").map(|time| format!("\"timestamp\":{time},")).unwrap_or_default();
    let message = SHAPE.new_entry(new.message, None, said.as_ref())?;
    Some(format!(r#"{{"type":"message",{links}{time}"message":{message}}}"#))
}
