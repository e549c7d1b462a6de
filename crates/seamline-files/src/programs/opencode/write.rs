//! Writes a repaired conversation into the parts of a session.
//!
//! A call and its result are one part, so that a repair changes parts and neither adds nor removes records.

use std::collections::BTreeMap;

use super::part::Change;
use super::read::Session;
use super::show::Shown;
use crate::native::message::{Call, Message, Role, align};
use crate::session::{NewRecord, RecordRepair, ReturnedMessage};

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let session = Session::of(repair.records.iter().copied());
    let shown = session.shown(&session.active());
    if shown.len() != repair.reading.messages.len() {
        return None;
    }
    let mut work = Work { changes: BTreeMap::new(), open: Vec::new(), created: String::new() };
    let mut next = 0;
    for returned in repair.messages {
        match returned.origin {
            // Each message stays where it is, because the order of parts is that of their ids.
            Some(origin) if origin == next => {
                next += 1;
                work.keep(&shown[origin], &repair.reading.messages[origin].text, returned)?;
            }
            Some(_) => return None,
            None => work.add(returned.text)?,
        }
    }
    if next != shown.len() {
        return None;
    }
    let text = |(record, text): (usize, &&str)| {
        let text = match work.changes.get(&record) {
            Some(change) => change.apply(text)?,
            None => (*text).to_owned(),
        };
        Some(NewRecord { origin: Some(record), text })
    };
    repair.records.iter().enumerate().map(text).collect()
}

struct Work {
    changes: BTreeMap<usize, Change>,
    /// The calls of the last response that have no result yet: their ids after the repair, and their records.
    open: Vec<(Option<String>, usize)>,
    /// The time of the last response, as JSON.
    created: String,
}

impl Work {
    /// Takes a message that was there before.
    fn keep(&mut self, shown: &Shown, carried: &str, returned: &ReturnedMessage<'_>) -> Option<()> {
        let mut after =
            if returned.text == carried { shown.message.clone() } else { Message::of_carrier(returned.text)? };
        let is_same_role = after.role == shown.message.role;
        is_same_role.then_some(())?;
        if let Some(record) = shown.result_of {
            if after.text != shown.message.text {
                self.change(record).result = Some(after.text);
            }
            self.open.retain(|(_, open)| *open != record);
            return Some(());
        }
        align(&shown.message.calls, &mut after.calls);
        self.keep_text(shown, &after)?;
        if shown.message.role == Role::Assistant {
            self.keep_calls(shown, &after.calls)?;
            self.created.clone_from(&shown.created);
        }
        Some(())
    }

    fn keep_text(&mut self, shown: &Shown, after: &Message) -> Option<()> {
        if after.text == shown.message.text {
            return Some(());
        }
        let record = shown.texts.first().filter(|_| shown.is_text())?;
        self.change(*record).text = Some(after.text.clone());
        Some(())
    }

    fn keep_calls(&mut self, shown: &Shown, after: &[Call]) -> Option<()> {
        (after.len() == shown.calls.len()).then_some(())?;
        self.open.clear();
        for call in after {
            let index = call.index?;
            let (record, before) = (*shown.calls.get(index)?, shown.message.calls.get(index)?);
            self.open.push((call.id.clone(), record));
            if call.says_the_same(before) {
                continue;
            }
            let change = self.change(record);
            change.id = call.id.clone().filter(|_| call.id != before.id);
            change.name = call.name.clone().filter(|_| call.name != before.name);
            change.arguments = Some(call.arguments.clone()).filter(|_| call.arguments != before.arguments);
        }
        Some(())
    }

    /// Takes a new message, which is the result of an open call.
    fn add(&mut self, text: &str) -> Option<()> {
        let message = Message::of_carrier(text).filter(|message| message.role == Role::Tool)?;
        let at = self.open.iter().position(|(id, _)| *id == message.call_id)?;
        let (_, record) = self.open.remove(at);
        let created = self.created.clone();
        self.change(record).error = Some((message.text, created));
        Some(())
    }

    fn change(&mut self, record: usize) -> &mut Change {
        self.changes.entry(record).or_default()
    }
}
