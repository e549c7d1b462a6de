//! Reads the conversation that Claude Code would send.
//!
//! Each record names its parent. Claude Code walks from the last message to the first one. One response is several records
//! with the same `message.id`, one per block, and the results of parallel calls hang off the record of their call, so the
//! walk alone misses records: all records of a response on the path belong to it, and so do the results of its calls.

use super::active::active;
use crate::json::{Object, elements, members, string};
use crate::lines;
use crate::session::{About, CarriedMessage, FileInput, FileReading, KeptTexts, Node, Reading, Walk};

const MEMBERS: [&str; 16] = [
    "type",
    "uuid",
    "parentUuid",
    "isSidechain",
    "message",
    "sessionId",
    "timestamp",
    "cwd",
    "isApiErrorMessage",
    "summary",
    "customTitle",
    "aiTitle",
    "agentId",
    "requestId",
    "sourceToolAssistantUUID",
    "isMeta",
];

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut entries = Vec::new();
    let mut about = About::default();
    let lines = lines::read(input.bytes, &mut |text| {
        let found = members(text, &MEMBERS)?;
        note(&mut about, &found);
        entries.push(Entry::of(&found, content));
        Ok(())
    })?;
    let session = session(&entries, about);
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}

/// Keeps what describes the session.
fn note(about: &mut About, found: &[Option<&str>; MEMBERS.len()]) {
    let [kind, _, _, _, message, session, timestamp, cwd, _, summary, custom_title, ai_title, agent, ..] = found;
    let text = |value: Option<&str>| value.and_then(string);
    if about.id.is_none() {
        about.id = text(*session);
    }
    if let Some(folder) = text(*cwd) {
        about.folder = Some(folder);
    }
    if let Some(time) = text(*timestamp) {
        about.updated = Some(time);
    }
    let title = text(*custom_title).or_else(|| text(*ai_title));
    let title = title.or_else(|| text(*summary).filter(|_| text(*kind).as_deref() == Some("summary")));
    if title.is_some() {
        about.title = title;
    }
    about.is_subagent |= agent.is_some();
    let model = message.and_then(|message| members(message, &["model"]).ok()).and_then(|[model]| text(model));
    if let Some(model) = model.filter(|model| !model.starts_with('<')) {
        about.model = Some(model);
    }
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    /// A record that only connects others: `progress`, `system`, `attachment`.
    Link,
    /// A record without a place in the conversation.
    Note,
}

/// What a reading keeps of a record.
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) is_side: bool,
    /// Whether Claude Code wrote the message and not the user.
    is_meta: bool,
    /// The id of the response that a record is a block of, and that of its request.
    pub(super) response: Option<String>,
    pub(super) request: Option<String>,
    /// The id of the record whose call a result answers.
    pub(super) source: Option<String>,
    /// The ids of the calls that it makes, and of those that it answers.
    pub(super) calls: Vec<String>,
    pub(super) answers: Vec<String>,
    /// The message for the carrier; nothing if Claude Code would not send it.
    message: Option<String>,
    /// The hash of the whole message, to tell copies.
    pub(super) hash: u64,
}

impl Entry {
    fn of(found: &[Option<&str>; MEMBERS.len()], content: KeptTexts) -> Self {
        let [kind, id, parent, side, message, _, _, _, failed, _, _, _, _, request, source, meta] = *found;
        let text = |value: Option<&str>| value.and_then(string);
        let kind = match text(kind).as_deref() {
            Some("user") => Kind::User,
            Some("assistant") => Kind::Assistant,
            _ if id.is_some() => Kind::Link,
            _ => Kind::Note,
        };
        let mut entry = Self {
            kind,
            id: text(id),
            parent: text(parent),
            is_side: side == Some("true"),
            is_meta: meta == Some("true"),
            response: None,
            request: text(request),
            source: text(source),
            calls: Vec::new(),
            answers: Vec::new(),
            message: None,
            hash: 0,
        };
        if let Some(message) = message.filter(|_| matches!(kind, Kind::User | Kind::Assistant)) {
            entry.hash = hash(message);
            entry.read_message(message, content, failed == Some("true"));
        }
        entry
    }

    fn read_message(&mut self, message: &str, content: KeptTexts, is_failure: bool) {
        let Ok([id, role, blocks]) = members(message, &["id", "role", "content"]) else { return };
        self.response = id.and_then(string).filter(|id| self.kind == Kind::Assistant && !id.is_empty());
        let role = role.unwrap_or(if self.kind == Kind::User { "\"user\"" } else { "\"assistant\"" });
        let Some(blocks) = blocks.filter(|_| !is_failure) else { return };
        let Some(list) = elements(blocks) else {
            let is_blank = string(blocks).is_some_and(|text| text.trim().is_empty());
            self.message = (!is_blank).then(|| format!(r#"{{"role":{role},"content":{}}}"#, content.keep(blocks)));
            return;
        };
        let kept: Vec<&str> = list.iter().copied().filter(|block| !self.read_block(block)).collect();
        let blocks = if kept.len() == list.len() { blocks.to_owned() } else { format!("[{}]", kept.join(",")) };
        self.message = (!kept.is_empty()).then(|| format!(r#"{{"role":{role},"content":{}}}"#, content.keep(&blocks)));
    }

    /// Notes the ids of a block. Returns whether Claude Code leaves the block out: a text of spaces only, or
    /// thinking without a signature.
    fn read_block(&mut self, block: &str) -> bool {
        let names = ["type", "id", "tool_use_id", "text", "signature"];
        let Ok([kind, id, answers, text, signature]) = members(block, &names) else { return false };
        match kind.and_then(string).as_deref() {
            Some("tool_use") => self.calls.extend(id.and_then(string)),
            Some("tool_result") => self.answers.extend(answers.and_then(string)),
            Some("text") => return text.and_then(string).is_some_and(|text| text.trim().is_empty()),
            Some("thinking") => return signature.and_then(string).is_none_or(|signature| signature.is_empty()),
            _ => {}
        }
        false
    }

    fn node(&self, is_side: bool) -> Node<'_> {
        Node {
            id: self.id.as_deref(),
            parent: self.parent.as_deref(),
            hash: self.hash.wrapping_add(self.kind as u64),
            is_member: self.is_side == is_side,
        }
    }

    pub(super) fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// Whether Claude Code sends the message.
    pub(super) fn is_sent(&self) -> bool {
        self.message.is_some()
    }

    /// Whether the user wrote the message.
    pub(super) fn is_request(&self) -> bool {
        self.kind == Kind::User && self.is_sent() && !self.is_meta && self.answers.is_empty()
    }
}

/// A hash of a message. It only has to tell copies in one file.
fn hash(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The session in the records.
fn session(entries: &[Entry], mut about: About) -> Reading {
    // A file of a sub-agent has only side records, and they are its conversation.
    let is_side = !entries.iter().any(|entry| entry.is_message() && !entry.is_side);
    about.is_subagent |= is_side;
    let nodes: Vec<Node<'_>> = entries.iter().map(|entry| entry.node(is_side)).collect();
    let last = nodes.iter().zip(entries).rposition(|(node, entry)| node.is_member && entry.is_message());
    // The parents of a sub-agent's first records are in the file of the session that started it.
    let chain = Walk { parent: "parentUuid", starts_elsewhere: is_side }.from(last, &nodes);
    let active = active(entries, &chain.records);
    about.inactive =
        entries.iter().filter(|entry| entry.is_message()).count().saturating_sub(active.iter().map(Vec::len).sum());
    let messages = active.iter().filter_map(|group| carried(entries, group)).collect();
    let (provider, defects) = (Some("anthropic"), chain.defects);
    Reading { dialect: "anthropic_messages", provider, messages, defects, chain: chain.records, about }
}

/// The message that Claude Code makes of records.
fn carried(entries: &[Entry], group: &[usize]) -> Option<CarriedMessage> {
    let shown: Vec<(usize, &str)> =
        group.iter().filter_map(|record| Some((*record, entries[*record].message.as_deref()?))).collect();
    let (first, text) = *shown.first()?;
    if shown.len() == 1 {
        return Some(CarriedMessage::of(first, text.to_owned()));
    }
    let mut blocks = Vec::new();
    let mut owners = Vec::new();
    for (record, text) in shown {
        let content = members(text, &["content"]).ok().and_then(|[content]| content)?;
        match elements(content) {
            Some(list) => {
                owners.extend(std::iter::repeat_n(record, list.len()));
                blocks.extend(list);
            }
            None => return None,
        }
    }
    let text = Object::of(text)?.with(&[("content", Some(format!("[{}]", blocks.join(","))))]);
    Some(CarriedMessage { record: first, part: 0, owners, text })
}

/// The content of a record's message, for tests and for writing.
pub(super) fn message_of(record: &str) -> Option<Object<'_>> {
    members(record, &["message"]).ok().and_then(|[message]| message).and_then(Object::of)
}
