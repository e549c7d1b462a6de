//! Reads the conversation that Copilot CLI would send.
//!
//! The events of sub-agents are in the same file; they name their agent or the call that started it. A compaction runs
//! beside the conversation: its summary replaces what was said before it began.

use std::collections::HashSet;

use super::event;
use super::order::{Event, groups};
use crate::json::{Object, members, string};
use crate::lines;
use crate::native::message::{Message, Role};
use crate::session::catalogue::FILE009;
use crate::session::{About, CarriedMessage, Defect, FileInput, FileReading, KeptTexts, Reading, RecordEdit};

const MEMBERS: [&str; 5] = ["type", "data", "id", "timestamp", "agentId"];

type Found<'t> = [Option<&'t str>; MEMBERS.len()];

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut session = Session::default();
    let lines = lines::read(input.bytes, &mut |text| {
        let found = members(text, &MEMBERS)?;
        session.take(text, &found, content);
        Ok(())
    })?;
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session: session.finish() })
}

/// The state of a reading.
#[derive(Default)]
struct Session {
    about: About,
    records: usize,
    events: Vec<Event>,
    /// The hashes of the records, to tell copies.
    hashes: HashSet<[u8; 16]>,
    /// The record in which a compaction began that is not complete yet.
    begun: Option<usize>,
    compaction: Option<Compaction>,
    defects: Vec<Defect>,
}

/// The last compaction.
struct Compaction {
    /// The record with the summary.
    record: usize,
    summary: String,
    /// The first record that the summary does not replace.
    first_kept: usize,
}

impl Session {
    fn take(&mut self, record: &str, found: &Found<'_>, content: KeptTexts) {
        let [kind, data, id, timestamp, agent] = *found;
        let text = |value: Option<&str>| value.and_then(string);
        let at = self.records;
        self.records += 1;
        if id.is_some() && !self.hashes.insert(hash(record)) {
            self.defects.push(copy(at));
            return;
        }
        if let Some(time) = text(timestamp) {
            self.about.updated = Some(time);
        }
        let (Some(kind), Some(data)) = (text(kind), data) else { return };
        let data = content.keep(data);
        let Some(data) = Object::of(&data) else { return };
        let is_subagent = text(agent).is_some() || data.string("parentToolCallId").is_some();
        if is_subagent {
            return;
        }
        self.note(&kind, &data);
        match kind.as_str() {
            "session.compaction_start" => self.begun = Some(at),
            "session.compaction_complete" => self.compact(at, &data),
            "session.context_cleared" => {
                self.events.clear();
                (self.begun, self.compaction) = (None, None);
            }
            kind => self.events.extend(event::message(kind, &data).map(|message| event_of(at, &message))),
        }
    }

    /// Keeps what describes the session.
    fn note(&mut self, kind: &str, data: &Object<'_>) {
        let about = &mut self.about;
        match kind {
            "session.start" if about.id.is_none() => {
                about.id = data.string("sessionId");
                let context = data.get("context").and_then(Object::of);
                about.folder = context.and_then(|context| context.string("cwd"));
            }
            "session.title_changed" => about.title = data.string("title"),
            _ => {}
        }
        let model = match kind {
            "session.start" | "session.resume" => data.string("selectedModel"),
            "session.model_change" => data.string("newModel"),
            "assistant.message" => data.string("model"),
            _ => None,
        };
        if model.is_some() {
            about.model = model;
        }
    }

    fn compact(&mut self, record: usize, data: &Object<'_>) {
        let begun = self.begun.take();
        let summary = data.string("summaryContent").filter(|_| data.get("success") == Some("true"));
        let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) else { return };
        self.compaction = Some(Compaction { record, summary, first_kept: begun.unwrap_or(record) });
    }

    fn finish(self) -> Reading {
        let Self { mut about, records, mut events, compaction, defects, .. } = self;
        let first_kept = compaction.as_ref().map_or(0, |compaction| compaction.first_kept);
        let count = events.len();
        let mut messages = Vec::new();
        if let Some(compaction) = compaction {
            let summary = Message::said(Role::User, compaction.summary).carried();
            messages.push(CarriedMessage::of(compaction.record, summary));
        }
        for group in groups(&events) {
            // A call whose tool was running when the compaction began is kept with its results.
            let is_kept = group.iter().any(|index| events[*index].record >= first_kept);
            for index in group.into_iter().filter(|_| is_kept) {
                let event = &mut events[index];
                messages.push(CarriedMessage::of(event.record, std::mem::take(&mut event.message)));
            }
        }
        about.inactive = count.saturating_sub(messages.len());
        // Copilot CLI speaks to many providers. What all of them demand of calls and results is left.
        let (dialect, provider) = ("openai_chat", Some("openai-compatible"));
        Reading { dialect, provider, messages, defects, chain: (0..records).collect(), about, ..Reading::default() }
    }
}

fn event_of(record: usize, message: &Message) -> Event {
    let calls = message.calls.iter().filter_map(|call| call.id.clone()).collect();
    Event { record, message: message.carried(), calls, call_id: message.call_id.clone() }
}

/// A hash of a record. It only has to tell copies in one file.
fn hash(record: &str) -> [u8; 16] {
    let hash = blake3::hash(record.as_bytes());
    let mut start = [0; 16];
    start.copy_from_slice(&hash.as_bytes()[..16]);
    start
}

/// The defect of a record that is in the file before.
fn copy(record: usize) -> Defect {
    let message = "the same record is in the file before".to_owned();
    Defect { kind: &FILE009, record, message, edits: vec![RecordEdit::Remove { record }] }
}
