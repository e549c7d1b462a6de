//! Reads the records of a session: its description, its messages, and their parts.

use std::collections::HashMap;

use super::part::{self, Said};
use crate::json::{Object, elements, members, offset};
use crate::lines::{self, DamagedLine, RecordPlace};
use crate::list::{self, Shape};
use crate::session::{About, FileInput, FileReading, Reading};

/// A session as its records describe it.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) about: About,
    /// The provider that answered last, by its name in opencode.
    provider: Option<String>,
    pub(super) revert: Option<Revert>,
    pub(super) messages: Vec<Message>,
    /// The indices of the messages by their ids.
    by_id: HashMap<String, usize>,
}

/// The place to which the user went back.
#[derive(Debug)]
pub(super) struct Revert {
    pub(super) message: String,
    pub(super) part: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) record: usize,
    pub(super) id: Option<String>,
    pub(super) is_user: bool,
    /// The message that it answers.
    pub(super) parent: Option<String>,
    /// The time at which it was created, as JSON.
    pub(super) created: String,
    pub(super) is_summary: bool,
    pub(super) is_finished: bool,
    /// The name of the error with which the response ended.
    pub(super) error: Option<String>,
    pub(super) is_completed: bool,
    pub(super) parts: Vec<Part>,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) record: usize,
    pub(super) id: Option<String>,
    pub(super) said: Said,
}

/// Reads an export, or one file of the older storage.
pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let mut bytes = Vec::new();
    input.bytes.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let (records, damaged) = match Object::of(text.trim_start_matches('\u{feff}').trim()) {
        Some(_) => (records(&text), Vec::new()),
        None => rescued(&text)?,
    };
    let session = Session::of(records.iter().copied());
    let places = records.iter().map(|record| place(&text, record)).collect();
    Ok(FileReading { records: places, damaged, session: session.reading(input.content) })
}

const SHAPE: Shape = Shape {
    members: &["messages"],
    is_record: |text| members(text, &["info", "parts"]).is_ok_and(|[info, parts]| info.is_some() && parts.is_some()),
};

/// The records of the complete messages in a damaged export.
fn rescued(text: &str) -> std::io::Result<(Vec<&str>, Vec<DamagedLine>)> {
    let list = list::read(&mut text.as_bytes(), &SHAPE, &mut |text| members(text, &[]).map(drop))?;
    let messages = list.records.iter().map(|place| &text[place.span.start as usize..place.span.end as usize]);
    let records = messages.filter_map(Object::of).flat_map(|message| message_records(&message)).collect();
    Ok((records, list.damaged))
}

/// Reads rows, one per line.
pub(super) fn read_rows(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let mut session = Session::default();
    let mut count = 0;
    let lines = lines::read(input.bytes, &mut |text| {
        members(text, &[])?;
        session.add(count, text);
        count += 1;
        Ok(())
    })?;
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session: session.reading(input.content) })
}

/// The records in a document: the description of the session, and each message before its parts.
fn records(text: &str) -> Vec<&str> {
    let document = text.trim_start_matches('\u{feff}').trim();
    let Some(root) = Object::of(document) else { return Vec::new() };
    let Some(messages) = root.get("messages").and_then(elements) else { return vec![document] };
    let mut records: Vec<&str> = root.get("info").into_iter().collect();
    for message in messages.into_iter().filter_map(Object::of) {
        records.extend(message_records(&message));
    }
    // A repair writes records in the order of the document.
    records.sort_by_key(|record| offset(text, record));
    records
}

fn message_records<'t>(message: &Object<'t>) -> Vec<&'t str> {
    message.get("info").into_iter().chain(message.list("parts")).collect()
}

fn place(text: &str, record: &str) -> RecordPlace {
    let start = offset(text, record);
    let line = text.as_bytes()[..start].split(|byte| *byte == b'\n').count();
    RecordPlace { line, span: start as u64..(start + record.len()) as u64 }
}

impl Session {
    pub(super) fn of<'r>(records: impl Iterator<Item = &'r str>) -> Self {
        let mut session = Self::default();
        records.enumerate().for_each(|(record, text)| session.add(record, text));
        session
    }

    /// Adds a record. A part comes after its message.
    fn add(&mut self, record: usize, text: &str) {
        let Some(object) = Object::of(text) else { return };
        if object.get("messageID").is_some() {
            self.add_part(record, &object);
        } else if object.get("role").is_some() {
            self.add_message(record, &object);
        } else {
            self.describe(&object);
        }
    }

    fn describe(&mut self, session: &Object<'_>) {
        let about = &mut self.about;
        about.id = session.string("id");
        about.title = session.string("title");
        about.folder = session.string("directory");
        about.updated = inner(session, "time", "updated").map(str::to_owned);
        about.is_subagent = session.string("parentID").is_some();
        let revert = session.get("revert").and_then(Object::of);
        self.revert = revert
            .and_then(|revert| Some(Revert { message: revert.string("messageID")?, part: revert.string("partID") }));
    }

    fn add_message(&mut self, record: usize, info: &Object<'_>) {
        let own = |name: &str| info.string(name);
        let model = own("modelID").or_else(|| Object::of(info.get("model")?)?.string("modelID"));
        if model.is_some() {
            self.about.model = model;
        }
        let provider = own("providerID").or_else(|| Object::of(info.get("model")?)?.string("providerID"));
        self.provider = provider.or(self.provider.take());
        if self.about.id.is_none() {
            self.about.id = own("sessionID");
        }
        let error = info.get("error").and_then(Object::of);
        let message = Message {
            record,
            id: own("id"),
            is_user: info.says("role", &["user"]),
            parent: own("parentID"),
            created: inner(info, "time", "created").unwrap_or("0").to_owned(),
            is_summary: info.get("summary") == Some("true"),
            is_finished: own("finish").is_some(),
            error: error.map(|error| error.string("name").unwrap_or_default()),
            is_completed: inner(info, "time", "completed").is_some(),
            parts: Vec::new(),
        };
        if let Some(id) = &message.id {
            self.by_id.insert(id.clone(), self.messages.len());
        }
        self.messages.push(message);
    }

    fn add_part(&mut self, record: usize, part: &Object<'_>) {
        let found = part.string("messageID").and_then(|id| self.by_id.get(&id)).copied();
        if found.is_none() && self.messages.is_empty() && self.about.id.is_none() {
            // A part without its session is a file of the older storage.
            self.messages.push(Message { record, created: "0".to_owned(), is_completed: true, ..Message::default() });
        }
        let index = found.or_else(|| self.messages.iter().position(|message| message.id.is_none()));
        // opencode finds parts by their message, so that it does not send the others.
        let Some(message) = index.map(|index| &mut self.messages[index]) else { return };
        let said = part::read(part, message.is_user);
        message.parts.push(Part { record, id: part.string("id"), said });
    }

    /// The records of the parts of a message that say nothing to the model in the carrier, such as reasoning.
    fn unshown(&self, index: usize) -> impl Iterator<Item = usize> {
        let parts = &self.messages[index].parts[..self.parts_of(index)];
        parts.iter().filter(|part| part.said == Said::Nothing).map(|part| part.record)
    }

    fn reading(mut self, content: crate::session::KeptTexts) -> Reading {
        let active = self.active();
        let shown = self.shown(&active);
        let mut about = std::mem::take(&mut self.about);
        about.inactive = self.messages.len() - active.len();
        about.is_running = self
            .messages
            .iter()
            .rfind(|message| !message.is_user)
            .is_some_and(|last| !last.is_completed && last.error.is_none());
        let messages = shown.iter().map(|shown| shown.carried(content)).collect();
        let provider = self.provider.as_deref().and_then(provider_named);
        let unshown = active.iter().flat_map(|index| self.unshown(*index)).collect();
        Reading { dialect: "openai_chat", provider, messages, unshown, about, ..Reading::default() }
    }
}

/// A provider by its name in opencode. opencode adapts the messages for many providers (ids of calls, signatures), which its
/// records do not show, so that others are checked for what all servers demand.
fn provider_named(name: &str) -> Option<&'static str> {
    match name {
        "anthropic" => Some("anthropic"),
        "openai" => Some("openai"),
        _ => None,
    }
}

/// A member of an object in an object.
fn inner<'t>(object: &Object<'t>, outer: &str, name: &str) -> Option<&'t str> {
    Object::of(object.get(outer)?)?.get(name)
}
