//! Reads the conversation that `pi` would send.
//!
//! Each entry names its parent, and the last entry of the file is the leaf. `pi` walks from the leaf to the root. If a
//! compaction is on the path, `pi` sends its summary, the entries that it keeps and everything behind it. Files of
//! version 1 have no ids: their entries follow each other.

use super::path::{self, Path};
use crate::json::{Object, members, quoted, string};
use crate::lines;
use crate::native::message::{Message, Role};
use crate::native::openclaw::{SHAPE, without_calls};
use crate::native::text::text_of;
use crate::session::catalogue::FILE013;
use crate::session::{
    About, CarriedMessage, Defect, FileInput, FileReading, KeptTexts, Reading, RecordEdit, SessionHeader,
};

const MEMBERS: [&str; 14] = [
    "type",
    "id",
    "parentId",
    "timestamp",
    "message",
    "version",
    "cwd",
    "summary",
    "content",
    "firstKeptEntryId",
    "firstKeptEntryIndex",
    "modelId",
    "name",
    "targetId",
];

/// Reads a log, which begins with the description of the session.
pub(super) fn read_log(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let (mut reading, header) = read_all(input)?;
    let version = if header.is_linear { "" } else { r#""version":3,"# };
    let missing = header.place.defect(input.name, |id, time| {
        format!(r#"{{"type":"session",{version}"id":{},"timestamp":{time},"cwd":"."}}"#, quoted(id))
    });
    reading.session.defects.splice(0..0, missing);
    reading.session.about.file = Some(input.name.to_owned());
    Ok(reading)
}

/// Reads entries without a demand on the first one.
pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    Ok(read_all(input)?.0)
}

fn read_all(input: &mut FileInput<'_>) -> std::io::Result<(FileReading, Header)> {
    let content = input.content;
    let mut entries = Vec::new();
    let mut header = Header::default();
    let lines = lines::read(input.bytes, &mut |text| {
        let found = members(text, &MEMBERS)?;
        header.note(&found, entries.len());
        entries.push(Entry::of(&found, text, content));
        Ok(())
    })?;
    if !header.place.is_found() {
        header.is_linear = entries.iter().all(|entry| entry.id.is_none());
    }
    let session = session(entries, &header);
    Ok((FileReading { records: lines.records, damaged: lines.damaged, session }, header))
}

type Found<'t> = [Option<&'t str>; MEMBERS.len()];

/// The records that describe the session.
#[derive(Default)]
struct Header {
    about: About,
    place: SessionHeader,
    /// Whether the entries have no ids and follow each other.
    is_linear: bool,
}

impl Header {
    fn note(&mut self, found: &Found<'_>, record: usize) {
        let [kind, id, _, timestamp, message, version, cwd, _, _, _, _, model, name, _] = *found;
        let text = |value: Option<&str>| value.and_then(string);
        self.place.see_time(timestamp);
        if kind == Some("\"session\"") {
            self.place.find(record);
        }
        let about = &mut self.about;
        match text(kind).as_deref() {
            Some("session") if about.id.is_none() => {
                (about.id, about.folder) = (text(id), text(cwd));
                self.is_linear =
                    version.and_then(|version| version.parse().ok()).is_none_or(|version: f64| version < 2.0);
            }
            // An empty name removes the title.
            Some("session_info") => about.title = text(name).filter(|name| !name.trim().is_empty()),
            _ => {}
        }
        if let Some(time) = text(timestamp) {
            about.updated = Some(time);
        }
        let said = message.and_then(|message| members(message, &["model"]).ok()).and_then(|[model]| text(model));
        if let Some(model) = said.or_else(|| text(model)) {
            about.model = Some(model);
        }
    }
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first record, which has no place on the path.
    Header,
    /// An entry with a message or a text that `pi` sends.
    Message,
    Compaction,
    /// An entry that names the leaf.
    Leaf,
    /// An entry that only connects others.
    Link,
}

/// The first entry that a compaction keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Anchor {
    Id(String),
    /// The index of the record, in files of version 1.
    Index(usize),
}

/// The part of a record that a reading keeps.
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) anchor: Option<Anchor>,
    /// The entry that a record of kind `Leaf` names.
    pub(super) target: Option<String>,
    /// The ids of the calls in the message, as the program uses them for parents.
    pub(super) calls: Vec<String>,
    /// The message for the carrier; nothing if `pi` does not send it.
    message: Option<String>,
    /// The message without its calls, if it was aborted or failed and has calls.
    without_calls: Option<String>,
    /// The hash of the whole record, to tell copies.
    pub(super) hash: [u8; 8],
}

impl Entry {
    fn of(found: &Found<'_>, record: &str, content: KeptTexts) -> Self {
        let [kind, id, parent, _, message, _, _, summary, custom, anchor, index, _, _, target] = *found;
        let text = |value: Option<&str>| value.and_then(string);
        let mut entry = Self {
            kind: Kind::Link,
            id: text(id),
            parent: text(parent),
            anchor: text(anchor).map(Anchor::Id).or_else(|| Some(Anchor::Index(index?.parse().ok()?))),
            target: text(target),
            calls: Vec::new(),
            message: None,
            without_calls: None,
            hash: hash(record),
        };
        match text(kind).as_deref() {
            Some("session") => entry.kind = Kind::Header,
            Some("message") => {
                entry.kind = Kind::Message;
                if let Some(message) = message {
                    entry.read_message(&content.keep(message));
                }
            }
            Some("custom_message") => entry.read_text(Kind::Message, custom, content),
            Some("branch_summary") => entry.read_text(Kind::Message, summary, content),
            // A reset of `OpenClaw` begins anew, as a compaction without a summary does.
            Some("compaction" | "reset") => entry.read_text(Kind::Compaction, summary, content),
            Some("leaf") => entry.kind = Kind::Leaf,
            _ => {}
        }
        entry
    }

    fn read_message(&mut self, message: &str) {
        let Some(object) = Object::of(message) else { return };
        let Some(message) = SHAPE.message_of(&object) else {
            self.without_calls = without_calls(&object).filter(|_| object.says("role", &["assistant"]));
            return;
        };
        self.calls = message.calls.iter().filter_map(|call| call.id.clone()).collect();
        let is_said = matches!(message.role, Role::User | Role::Assistant);
        // `pi` leaves out messages without a word and without calls.
        let is_blank = is_said && message.calls.is_empty() && message.text.trim().is_empty();
        self.message = (!is_blank).then(|| message.carried());
    }

    /// Reads an entry whose text `pi` sends as a message of the user.
    fn read_text(&mut self, kind: Kind, text: Option<&str>, content: KeptTexts) {
        self.kind = kind;
        let text = text_of(text.map(|text| content.keep(text)).as_deref());
        self.message = (!text.is_empty()).then(|| Message::said(Role::User, text).carried());
    }
}

/// A hash of a record. It only has to tell copies in one file.
fn hash(text: &str) -> [u8; 8] {
    let hash = blake3::hash(text.as_bytes());
    let mut start = [0; 8];
    start.copy_from_slice(&hash.as_bytes()[..8]);
    start
}

/// The session in the records.
fn session(mut entries: Vec<Entry>, header: &Header) -> Reading {
    let mut about = header.about.clone();
    let Path { records, compaction, mut defects } = path::walk(&entries, header.is_linear);
    let sent = match &compaction {
        None => records.clone(),
        Some(compaction) => {
            let (before, behind) = records.split_at(compaction.place);
            let kept = compaction.first_kept.map_or(&[][..], |first| &before[first..]);
            [behind.first().copied()].into_iter().flatten().chain(kept.iter().chain(&behind[1..]).copied()).collect()
        }
    };
    let (mut messages, mut unshown) = (Vec::new(), Vec::new());
    for record in sent {
        let entry = &mut entries[record];
        unshown.extend(Some(record).filter(|_| entry.message.is_none() && matches!(entry.kind, Kind::Message)));
        messages.extend(entry.message.take().map(|message| CarriedMessage::of(record, message)));
        defects.extend(entry.without_calls.take().map(|message| aborted(record, message)));
    }
    let count = entries.iter().filter(|entry| matches!(entry.kind, Kind::Message | Kind::Compaction)).count();
    about.inactive = count.saturating_sub(messages.len());
    defects.sort_by_key(|defect| defect.record);
    // `pi` gives a request the form that its provider demands. What all providers demand of calls and results is left.
    let (dialect, provider) = ("openai_chat", Some("openai-compatible"));
    Reading { dialect, provider, messages, defects, chain: records, unshown, about, ..Reading::default() }
}

/// The defect of an aborted or failed message with calls.
fn aborted(record: usize, message: String) -> Defect {
    let edits = vec![RecordEdit::Set { record, member: "message", value: Some(message) }];
    let message = "it makes tool calls, and it was aborted or failed".to_owned();
    Defect { kind: &FILE013, record, message, edits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(file: &str) -> Vec<(usize, String)> {
        let mut bytes = file.as_bytes();
        let mut input = FileInput { bytes: &mut bytes, name: "s.jsonl", content: KeptTexts::Whole };
        let messages = read(&mut input).unwrap().session.messages;
        let text = |carried: CarriedMessage| (carried.record, Message::of_carrier(&carried.text).unwrap().text);
        messages.into_iter().map(text).collect()
    }

    #[test]
    fn the_conversation_is_the_summary_the_kept_entries_and_those_behind() {
        let file = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}
{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"compacted"}}
{"type":"message","id":"2","parentId":"1","message":{"role":"user","content":"kept"}}
{"type":"message","id":"3","parentId":"2","message":{"role":"user","content":"another branch"}}
{"type":"branch_summary","id":"4","parentId":"2","summary":"branch"}
{"type":"compaction","id":"5","parentId":"4","summary":"summary","firstKeptEntryId":"2"}
{"type":"message","id":"6","parentId":"5","message":{"role":"assistant","content":[],"stopReason":"stop"}}
{"type":"custom_message","id":"7","parentId":"6","content":[{"type":"text","text":"custom"}]}
"#;
        let expected = [(5, "summary"), (2, "kept"), (4, "branch"), (7, "custom")];
        assert_eq!(sent(file), expected.map(|(record, text)| (record, text.to_owned())));
    }

    #[test]
    fn a_log_begins_with_its_description() {
        let header = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}"#;
        let entry =
            r#"{"type":"message","id":"1","parentId":null,"timestamp":"t","message":{"role":"user","content":"hi"}}"#;
        let edits = |lines: [&str; 2]| {
            let file = lines.concat().replace("}{", "}\n{");
            let mut input = FileInput { bytes: &mut file.as_bytes(), name: "s.jsonl", content: KeptTexts::Whole };
            read_log(&mut input)
                .unwrap()
                .session
                .defects
                .into_iter()
                .flat_map(|defect| defect.edits)
                .collect::<Vec<_>>()
        };
        assert_eq!(edits([header, entry]), []);
        assert_eq!(edits([entry, header]), [RecordEdit::Move { record: 1, after: None }]);
        let added = edits([entry, ""]);
        let [RecordEdit::Prepend { text }] = &added[..] else { panic!("{added:?}") };
        assert!(text.starts_with(r#"{"type":"session","version":3,"id":""#), "{text}");
    }

    #[test]
    fn records_of_version_1_follow_each_other() {
        let file = r#"{"type":"session","id":"s","timestamp":"t","cwd":"/"}
{"type":"message","message":{"role":"user","content":"compacted"}}
{"type":"message","message":{"role":"user","content":"kept"}}
{"type":"compaction","summary":"summary","firstKeptEntryIndex":2}
{"type":"message","message":{"role":"user","content":"behind"}}
"#;
        let expected = [(3, "summary"), (2, "kept"), (4, "behind")];
        assert_eq!(sent(file), expected.map(|(record, text)| (record, text.to_owned())));
    }
}
