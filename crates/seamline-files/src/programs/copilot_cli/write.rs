//! Writes a repaired conversation as events of Copilot CLI.

use super::event;
use crate::json::{Object, quoted};
use crate::session::{Links, NewMessage, NewRecord, RecordRepair, Writer, uuid};

const WRITER: Writer = Writer {
    links: Some(Links { id: "id", parent: "parentId", new_id: uuid }),
    blocks: "content",
    rewrite: event::with_message,
    write: new_record,
};

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let is_summary = |record: &usize| {
        let record = Object::of(repair.records[*record]);
        record.is_some_and(|record| record.says("type", &["session.compaction_complete"]))
    };
    let first = repair.reading.messages.first().map(|message| message.record);
    let mut records = repair.write_behind(first.filter(is_summary), &WRITER)?;
    end_behind_start(&mut records);
    Some(records)
}

/// Puts each new result behind the event that starts its tool.
fn end_behind_start(records: &mut Vec<NewRecord>) {
    let started = |record: &NewRecord| {
        let record = Object::of(&record.text).filter(|record| record.says("type", &["tool.execution_start"]))?;
        Object::of(record.get("data")?)?.string("toolCallId")
    };
    let starts: Vec<(usize, String)> =
        records.iter().enumerate().filter_map(|(at, record)| Some((at, started(record)?))).collect();
    // From the last to the first one, so that the places before stay the same.
    for at in (0..records.len()).rev().filter(|at| records[*at].origin.is_none()).collect::<Vec<_>>() {
        let call =
            Object::of(&records[at].text).and_then(|record| Object::of(record.get("data")?)?.string("toolCallId"));
        let start = starts.iter().rev().find(|(start, id)| *start > at && Some(id) == call.as_ref());
        if let Some((start, _)) = start {
            move_behind(records, at, *start);
        }
    }
}

/// Moves a record behind a later one, and connects the records around both places.
fn move_behind(records: &mut Vec<NewRecord>, from: usize, to: usize) {
    let member =
        |record: &NewRecord, name| Object::of(&record.text).and_then(|record| record.get(name).map(str::to_owned));
    let relink = |record: &mut NewRecord, old: &Option<String>, new: &Option<String>| {
        if member(record, "parentId") == *old
            && let Some(object) = Object::of(&record.text)
        {
            record.text = object.with(&[("parentId", new.clone())]);
        }
    };
    let mut moved = records.remove(from);
    let (id, parent) = (member(&moved, "id"), member(&moved, "parentId"));
    if let Some(next) = records.get_mut(from) {
        relink(next, &id, &parent);
    }
    let start = &records[to - 1];
    let (before, time) = (member(start, "id"), member(start, "timestamp"));
    if let Some(next) = records.get_mut(to) {
        relink(next, &before, &id);
    }
    if let Some(object) = Object::of(&moved.text) {
        moved.text = object.with(&[("parentId", before), ("timestamp", time)]);
    }
    records.insert(to, moved);
}

fn new_record(new: &NewMessage<'_>) -> Option<String> {
    let beside = Object::of(new.after)?;
    let data = beside.get("data").and_then(Object::of);
    let (kind, data) = event::new_data(new.message, data.as_ref())?;
    let time = beside.get("timestamp").map(|time| format!("\"timestamp\":{time},")).unwrap_or_default();
    let (id, parent) = (quoted(new.id), new.parent);
    Some(format!(r#"{{"type":"{kind}","data":{data},"id":{id},{time}"parentId":{parent}}}"#))
}
