//! Writes the results that a repair adds as records of Kimi CLI.
//!
//! A message of the model is made of several records, so such messages stay. A message that one record appends can move
//! behind a result, so that the result follows its call.

use std::collections::{HashMap, HashSet};

use crate::json::{Object, quoted};
use crate::native::message::{Message, Role};
use crate::session::{CarriedMessage, NewRecord, RecordRepair};

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let carried = &repair.reading.messages;
    let mut added: HashMap<usize, Vec<String>> = HashMap::new();
    let mut moved = HashSet::new();
    let mut seen = HashSet::new();
    // The last record of the messages so far.
    let mut last = None;
    let mut maker: Option<(&CarriedMessage, Message)> = None;
    for message in repair.messages {
        let read = Message::of_carrier(message.text)?;
        let Some(origin) = message.origin else {
            let (carried, maker) = maker.as_ref()?;
            let record = record_of_call(carried, maker, read.answers.as_deref()?)?;
            added.entry(record).or_default().push(result(repair.records[record], &read.text)?);
            continue;
        };
        let own = carried.get(origin).filter(|own| own.text == message.text && seen.insert(origin))?;
        match last.filter(|last| own.record < *last) {
            Some(last) => {
                let text = repair.records[own.record];
                Object::of(text).filter(|record| record.says("type", &["context.append_message"]))?;
                moved.insert(own.record);
                added.entry(last).or_default().push(text.to_owned());
            }
            None => last = own.owners.iter().copied().chain([own.record]).max(),
        }
        if read.role == Role::Assistant {
            maker = Some((own, read));
        }
    }
    if seen.len() != carried.len() {
        return None;
    }
    let mut out = Vec::with_capacity(repair.records.len() + added.len());
    for (record, text) in repair.records.iter().enumerate() {
        if !moved.contains(&record) {
            out.push(NewRecord { origin: Some(record), text: (*text).to_owned() });
        }
        let new = added.remove(&record).unwrap_or_default();
        out.extend(new.into_iter().map(|text| NewRecord { origin: None, text }));
    }
    Some(out)
}

/// The record of a call of a message.
fn record_of_call(carried: &CarriedMessage, maker: &Message, id: &str) -> Option<usize> {
    let index = maker.calls.iter().position(|call| call.id.as_deref() == Some(id))?;
    carried.owners.get(index).copied()
}

/// A result of a call; nothing if the call is in a message that was written as a whole.
fn result(call: &str, text: &str) -> Option<String> {
    let record = Object::of(call)?;
    let event = Object::of(record.get("event")?)?;
    let id = event.get("toolCallId")?;
    let parent = event.get("uuid").unwrap_or(id);
    let result = format!(r#"{{"output":{},"isError":true}}"#, quoted(text));
    let event = format!(r#"{{"type":"tool.result","parentUuid":{parent},"toolCallId":{id},"result":{result}}}"#);
    let member = |name: &str| record.get(name).map(|value| format!(",\"{name}\":{value}")).unwrap_or_default();
    Some(format!(r#"{{"type":"context.append_loop_event","event":{event}{}{}}}"#, member("time"), member("agentId")))
}
