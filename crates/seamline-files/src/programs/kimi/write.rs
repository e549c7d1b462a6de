//! Writes the results that a repair adds, moves or removes as records of Kimi CLI.
//!
//! Another message of Kimi CLI is made of several records, so nothing else is changed.

use std::collections::{HashMap, HashSet};

use crate::json::{Object, quoted};
use crate::native::message::{Message, Role};
use crate::session::{CarriedMessage, NewRecord, RecordRepair};

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let carried = &repair.reading.messages;
    let mut work = Work { behind: HashMap::new(), is_taken: vec![false; repair.records.len()] };
    let returned: HashSet<usize> = repair.messages.iter().filter_map(|message| message.origin).collect();
    for gone in (0..carried.len()).filter(|message| !returned.contains(message)) {
        work.is_taken[result_record(&carried[gone])?] = true;
    }
    let mut maker: Option<(&CarriedMessage, Message)> = None;
    for (message, stays) in repair.messages.iter().zip(repair.unmoved()) {
        let read = Message::of_carrier(message.text)?;
        let was = message.origin.map(|origin| &carried[origin]);
        if was.is_some_and(|was| was.text != message.text) {
            return None;
        }
        let (Some(was), true) = (was, stays) else {
            let (made, calls) = maker.as_ref()?;
            let call = record_of_call(made, calls, read.answers.as_deref()?)?;
            let new = match was {
                // A result that moves goes behind its call.
                Some(was) => {
                    let record = result_record(was)?;
                    work.is_taken[record] = true;
                    NewRecord { origin: Some(record), text: repair.records[record].to_owned() }
                }
                None => NewRecord { origin: None, text: result(repair.records[call], &read.text)? },
            };
            work.behind.entry(call).or_default().push(new);
            continue;
        };
        if read.role == Role::Assistant {
            maker = Some((was, read));
        }
    }
    Some(work.written(repair.records))
}

/// What happens to the records.
struct Work {
    /// The results that go behind the record of their call.
    behind: HashMap<usize, Vec<NewRecord>>,
    /// Whether each record moves or is removed.
    is_taken: Vec<bool>,
}

impl Work {
    fn written(mut self, records: &[&str]) -> Vec<NewRecord> {
        let mut out = Vec::with_capacity(records.len() + self.behind.len());
        for (record, text) in records.iter().enumerate() {
            if !self.is_taken[record] {
                out.push(NewRecord { origin: Some(record), text: (*text).to_owned() });
            }
            out.extend(self.behind.remove(&record).unwrap_or_default());
        }
        out
    }
}

/// The record of a result, which holds nothing else.
fn result_record(message: &CarriedMessage) -> Option<usize> {
    let is_result = Message::of_carrier(&message.text).is_some_and(|message| message.role == Role::Tool);
    (is_result && message.owners.is_empty()).then_some(message.record)
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
