//! Writes the results that a repair adds as records of Kimi CLI.
//!
//! A message of Kimi CLI is made of several records, so nothing else is changed.

use std::collections::HashMap;

use crate::json::{Object, quoted};
use crate::native::message::{Message, Role};
use crate::session::{CarriedMessage, NewRecord, RecordRepair};

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let carried = &repair.reading.messages;
    let mut added: HashMap<usize, Vec<String>> = HashMap::new();
    let mut next = 0;
    let mut maker = None;
    for message in repair.messages {
        let read = Message::of_carrier(message.text)?;
        match message.origin {
            Some(origin) if origin == next && carried[origin].text == message.text => {
                next += 1;
                if read.role == Role::Assistant {
                    maker = Some((&carried[origin], read));
                }
            }
            Some(_) => return None,
            None => {
                let (carried, maker) = maker.as_ref()?;
                let record = record_of_call(carried, maker, read.answers.as_deref()?)?;
                added.entry(record).or_default().push(result(repair.records[record], &read.text)?);
            }
        }
    }
    if next != carried.len() {
        return None;
    }
    let mut out = Vec::with_capacity(repair.records.len() + added.len());
    for (record, text) in repair.records.iter().enumerate() {
        out.push(NewRecord { origin: Some(record), text: (*text).to_owned() });
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
