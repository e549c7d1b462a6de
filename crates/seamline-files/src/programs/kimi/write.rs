//! Writes the results that a repair adds, moves or removes as records of Kimi CLI.
//!
//! Another message of Kimi CLI is made of several records, so nothing else is changed. Only a message of the user that came
//! between the start of a step and its calls goes behind their results.

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
    let mut cycle: Option<Cycle<'_>> = None;
    for (message, stays) in repair.messages.iter().zip(repair.unmoved()) {
        let read = Message::of_carrier(message.text)?;
        let was = message.origin.map(|origin| &carried[origin]);
        if was.is_some_and(|was| was.text != message.text) {
            return None;
        }
        match (was, read.role) {
            (Some(was), Role::Assistant) if stays => cycle = Some(Cycle { made: was, last: was.record, message: read }),
            (Some(was), Role::Tool) if stays => {
                if let Some(cycle) = &mut cycle {
                    cycle.last = cycle.last.max(was.record);
                }
            }
            (Some(was), Role::User | Role::System) => {
                // Kimi CLI puts a message that comes between the start of a step and its calls before their results.
                if let Some(cycle) = cycle.as_ref().filter(|cycle| cycle.holds(was.record)) {
                    work.put(was.record, cycle.last, repair.records);
                }
            }
            (_, Role::Tool) => {
                let cycle = cycle.as_mut()?;
                let call = cycle.record_of_call(read.call_id.as_deref()?)?;
                // A result that moves goes behind its call, like a new one.
                if let Some(was) = was {
                    work.put(result_record(was)?, call, repair.records);
                } else {
                    let text = result(repair.records[call], &read.text)?;
                    work.behind.entry(call).or_default().push(NewRecord { origin: None, text });
                }
                cycle.last = cycle.last.max(call);
            }
            (_, Role::Assistant) | (None, _) => return None,
        }
    }
    Some(work.written(repair.records))
}

/// A message with calls, and its results.
struct Cycle<'c> {
    made: &'c CarriedMessage,
    message: Message,
    /// The last record of the message and of its results.
    last: usize,
}

impl Cycle<'_> {
    /// Whether a record is between the start of the step and its calls.
    fn holds(&self, record: usize) -> bool {
        self.made.record < record && self.made.owners.first().is_some_and(|call| record < *call)
    }

    /// The record of a call of the message.
    fn record_of_call(&self, id: &str) -> Option<usize> {
        let index = self.message.calls.iter().position(|call| call.id.as_deref() == Some(id))?;
        self.made.owners.get(index).copied()
    }
}

/// The changes to the records.
struct Work {
    /// The records that go behind another one.
    behind: HashMap<usize, Vec<NewRecord>>,
    /// Whether each record moves or is removed.
    is_taken: Vec<bool>,
}

impl Work {
    /// Moves a record behind another one.
    fn put(&mut self, record: usize, behind: usize, records: &[&str]) {
        self.is_taken[record] = true;
        let moved = NewRecord { origin: Some(record), text: records[record].to_owned() };
        self.behind.entry(behind).or_default().push(moved);
    }

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
