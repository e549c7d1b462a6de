//! Reads the conversation that Factory Droid would send.
//!
//! Droid sends the messages in the order of the file. The last compaction replaces the messages up to its anchor by a
//! summary; without an anchor it replaces all messages before it.

use std::collections::HashSet;

use crate::json::{elements, members, quoted, string};
use crate::lines;
use crate::session::catalogue::FILE009;
use crate::session::{
    About, CarriedMessage, Defect, FileInput, FileReading, KeptTexts, Reading, RecordEdit, SessionHeader,
};

const MEMBERS: [&str; 9] =
    ["type", "id", "timestamp", "message", "cwd", "title", "sessionTitle", "summaryText", "anchorMessage"];

type Found<'t> = [Option<&'t str>; MEMBERS.len()];

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let name = input.name;
    let mut session = Session::default();
    let lines = lines::read(input.bytes, &mut |text| {
        let found = members(text, &MEMBERS)?;
        session.take(text, &found, content);
        Ok(())
    })?;
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session: session.finish(name) })
}

/// The state of a reading.
#[derive(Default)]
struct Session {
    about: About,
    header: SessionHeader,
    records: usize,
    /// The records that hold messages, with their ids, and the messages that Droid sends.
    messages: Vec<(usize, Option<String>, Option<String>)>,
    /// The hashes of the records with messages, to tell copies.
    hashes: HashSet<[u8; 32]>,
    compaction: Option<Compaction>,
    defects: Vec<Defect>,
}

/// The last compaction.
struct Compaction {
    record: usize,
    /// The number of messages before it.
    before: usize,
    summary: Option<String>,
    /// The id of the last message that it replaces.
    anchor: Option<String>,
}

impl Session {
    fn take(&mut self, record: &str, found: &Found<'_>, content: KeptTexts) {
        let [kind, id, timestamp, message, cwd, title, session_title, summary, anchor] = *found;
        let text = |value: Option<&str>| value.and_then(string);
        let at = self.records;
        self.records += 1;
        self.header.see_time(timestamp);
        if kind == Some("\"session_start\"") {
            self.header.find(at);
        }
        if let Some(time) = text(timestamp) {
            self.about.updated = Some(time);
        }
        match text(kind).as_deref() {
            Some("session_start") if self.about.id.is_none() => {
                (self.about.id, self.about.folder) = (text(id), text(cwd));
                self.about.title = text(session_title).or_else(|| text(title)).filter(|title| !title.is_empty());
            }
            Some("message") if id.is_some() && !self.hashes.insert(*blake3::hash(record.as_bytes()).as_bytes()) => {
                self.defects.push(copy(at));
            }
            Some("message") => {
                let carried = message.and_then(|message| carried(message, content));
                self.messages.push((at, text(id), carried));
            }
            Some("compaction_state") => {
                let summary = text(summary).filter(|summary| !summary.trim().is_empty());
                let summary = summary.map(|summary| format!(r#"{{"role":"user","content":{}}}"#, quoted(&summary)));
                let anchor = anchor.and_then(|anchor| members(anchor, &["id"]).ok()).and_then(|[id]| text(id));
                let before = self.messages.len();
                self.compaction = Some(Compaction { record: at, before, summary, anchor });
            }
            _ => {}
        }
    }

    fn finish(self, name: &str) -> Reading {
        let Self { mut about, messages, compaction, mut defects, .. } = self;
        let missing = self.header.defect(name, |id, _| {
            format!(
                r#"{{"type":"session_start","id":{},"title":"","sessionTitle":"","version":2,"cwd":"."}}"#,
                quoted(id)
            )
        });
        defects.splice(0..0, missing);
        let chain = messages.iter().map(|(record, ..)| *record).collect();
        let mut sent = Vec::new();
        let mut first = 0;
        if let Some(compaction) = compaction {
            let is_anchor = |id: &Option<String>| id.is_some() && *id == compaction.anchor;
            let anchor = messages[..compaction.before].iter().position(|(_, id, _)| is_anchor(id));
            first = anchor.map_or(compaction.before, |anchor| anchor + 1);
            sent.extend(compaction.summary.map(|summary| CarriedMessage::of(compaction.record, summary)));
        }
        let count = messages.len();
        let kept = messages.into_iter().skip(first);
        sent.extend(kept.filter_map(|(record, _, message)| Some(CarriedMessage::of(record, message?))));
        about.inactive = count.saturating_sub(sent.len());
        // Droid speaks to many providers. What all of them demand of calls and results is left.
        let (dialect, provider) = ("anthropic_messages", Some("messages-compatible"));
        Reading { dialect, provider, messages: sent, defects, chain, about, ..Reading::default() }
    }
}

/// The message for the carrier; nothing if Droid does not send it: it is only for the user, or it has no content.
fn carried(message: &str, content: KeptTexts) -> Option<String> {
    let [role, blocks, visibility] = members(message, &["role", "content", "visibility"]).ok()?;
    let (role, blocks) = (role?, blocks?);
    if visibility.and_then(string).as_deref() == Some("user_only") {
        return None;
    }
    let kept = match elements(blocks) {
        None => string(blocks).filter(|text| !text.trim().is_empty()).map(|_| blocks.to_owned()),
        Some(list) => {
            let kept: Vec<&str> = list.iter().copied().filter(|block| !is_blank(block)).collect();
            let is_whole = kept.len() == list.len();
            let blocks = if is_whole { blocks.to_owned() } else { format!("[{}]", kept.join(",")) };
            (!kept.is_empty()).then_some(blocks)
        }
    };
    kept.map(|blocks| format!(r#"{{"role":{role},"content":{}}}"#, content.keep(&blocks)))
}

/// Whether a block is a text of spaces only.
fn is_blank(block: &str) -> bool {
    let Ok([kind, text]) = members(block, &["type", "text"]) else { return false };
    kind == Some("\"text\"") && text.and_then(string).is_some_and(|text| text.trim().is_empty())
}

/// The defect of a record that is in the file before.
fn copy(record: usize) -> Defect {
    let message = "the same record is in the file before".to_owned();
    Defect { kind: &FILE009, record, message, edits: vec![RecordEdit::Remove { record }] }
}
