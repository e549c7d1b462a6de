//! Reads sessions: logs with one record per line, and documents with a list of messages.

use std::collections::{HashMap, HashSet};

use super::fold::{Active, Entry, Fold, Place};
use super::sent;
use super::turn::{Turn, turns};
use crate::json::{members, string};
use crate::lines;
use crate::list::{self, Shape};
use crate::session::catalogue::{FILE009, FILE012};
use crate::session::{About, Defect, FileInput, FileReading, Reading, RecordEdit};

/// The members of a session that describe it.
const FIELDS: [&str; 4] = ["sessionId", "lastUpdated", "summary", "kind"];

const SHAPE: Shape = Shape {
    members: &["messages"],
    is_record: |text| {
        const TYPES: [&str; 5] = ["user", "gemini", "info", "error", "warning"];
        let found = members(text, &["id", "type"]).ok();
        let kind = found.filter(|[id, _]| id.is_some()).and_then(|[_, kind]| kind.and_then(string));
        kind.is_some_and(|kind| TYPES.contains(&kind.as_str()))
    },
};

/// Reads a log.
pub(super) fn read_log(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let (mut about, mut defects, mut fold) = (About::default(), Vec::new(), Fold::new());
    let mut record = 0;
    let lines = lines::read(input.bytes, &mut |text| {
        let entry = Entry::of(text)?;
        if let Entry::Header { fields, .. } = &entry {
            note(&mut about, members(fields, &FIELDS)?);
        }
        let is_found = fold.add(record, &entry, &mut |message| {
            note_message(&mut about, message);
            turns(message, content)
        });
        defects.extend((!is_found).then(|| lost_target(record)));
        record += 1;
        Ok(())
    })?;
    let session = session(fold.finish(), lines.records.len(), about, defects);
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}

/// Reads a document.
pub(super) fn read_document(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let (mut about, mut defects, mut messages) = (About::default(), Vec::new(), Vec::new());
    let mut hashes: HashMap<String, blake3::Hash> = HashMap::new();
    let mut record = 0;
    let list = list::read(input.bytes, &SHAPE, &mut |text| {
        let [id] = members(text, &["id"])?;
        let hash = blake3::hash(text.as_bytes());
        let known = id.and_then(string).and_then(|id| hashes.insert(id, hash));
        if known == Some(hash) {
            defects.push(copy(record));
        } else {
            note_message(&mut about, text);
            messages.push(Active::of(Place { record, element: None }, turns(text, content)));
        }
        record += 1;
        Ok(())
    })?;
    note(&mut about, list.members(&FIELDS));
    let session = session(messages, list.records.len(), about, defects);
    Ok(FileReading { records: list.records, damaged: list.damaged, session })
}

/// Keeps what describes the session.
fn note(about: &mut About, found: [Option<&str>; FIELDS.len()]) {
    let [session, updated, summary, kind] = found.map(|value| value.and_then(string));
    about.id = session.or(about.id.take());
    about.updated = updated.or(about.updated.take());
    about.title = summary.or(about.title.take());
    about.is_subagent |= kind.as_deref() == Some("subagent");
}

fn note_message(about: &mut About, message: &str) {
    let Ok([model, timestamp]) = members(message, &["model", "timestamp"]) else { return };
    about.model = model.and_then(string).or(about.model.take());
    about.updated = timestamp.and_then(string).or(about.updated.take());
}

fn session(mut messages: Vec<Active<Vec<Turn>>>, records: usize, mut about: About, defects: Vec<Defect>) -> Reading {
    let sent = sent::sent(&mut messages);
    let messages = sent::carried(&messages, sent);
    let active: HashSet<usize> = messages.iter().flat_map(|message| message.owners.iter().copied()).collect();
    about.inactive = records - active.len();
    Reading { dialect: "gemini_generate", provider: Some("gemini"), messages, defects, about, ..Reading::default() }
}

/// The defect of a rewind to a message that is not in the log. Gemini CLI then forgets all messages before it.
fn lost_target(record: usize) -> Defect {
    let message = "the message that the session was rewound to is not in the file".to_owned();
    Defect { kind: &FILE012, record, message, edits: vec![RecordEdit::Remove { record }] }
}

fn copy(record: usize) -> Defect {
    let message = "the same message is in the file before".to_owned();
    Defect { kind: &FILE009, record, message, edits: vec![RecordEdit::Remove { record }] }
}
