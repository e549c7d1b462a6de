//! Reads the conversation that Qwen Code would send.
//!
//! Each record names its parent, and the path leads from the last record to the first one. A rewind is a record whose parent
//! is far back, so the turns between are on no path. A compression holds the messages that replace all before it. Records
//! with one id are fragments of one message.

use std::collections::HashMap;

use crate::json::{elements, members, string};
use crate::lines;
use crate::session::{About, CarriedMessage, FileInput, FileReading, KeptTexts, Node, Reading, Walk};

const MEMBERS: [&str; 11] = [
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "message",
    "systemPayload",
    "sessionId",
    "timestamp",
    "cwd",
    "model",
    "agentId",
];

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut entries = Vec::new();
    let mut about = About::default();
    let lines = lines::read(input.bytes, &mut |text| {
        let found = members(text, &MEMBERS)?;
        let entry = Entry::of(text, &found, content);
        note(&mut about, &found);
        entries.push(entry);
        Ok(())
    })?;
    let session = session(&entries, about);
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}

/// Keeps what describes the session.
fn note(about: &mut About, found: &[Option<&str>; MEMBERS.len()]) {
    let [_, subtype, _, _, _, payload, session, timestamp, cwd, model, agent] =
        found.map(|value| value.filter(|value| value.starts_with(['"', '{'])));
    let text = |value: Option<&str>| value.and_then(string);
    about.id = about.id.take().or_else(|| text(session));
    about.updated = text(timestamp).or(about.updated.take());
    about.folder = text(cwd).or(about.folder.take());
    about.is_subagent |= agent.is_some();
    if text(subtype).as_deref() == Some("custom_title") {
        let title = payload.and_then(|payload| members(payload, &["customTitle"]).ok()).and_then(|[title]| title);
        about.title = text(title).or(about.title.take());
    }
    // Gemini's own endpoint demands signatures of its newer models. Qwen Code reaches such a model through another one.
    about.model = text(model).filter(|model| !model.starts_with("gemini")).or(about.model.take());
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A message of the user or the model.
    Message,
    /// The result of a tool.
    Result,
    /// A message of the user that belongs to the message of the user before it.
    Addition,
    /// A new start of the conversation.
    Compression,
    /// A record that only connects others.
    Link,
    /// A record without a place in the conversation.
    Note,
}

/// The part of a record that a reading keeps.
struct Entry {
    kind: Kind,
    id: Option<String>,
    parent: Option<String>,
    /// The messages for the carrier: a role and parts.
    messages: Vec<Message>,
    hash: u64,
}

#[derive(Default)]
struct Message {
    role: String,
    parts: Vec<String>,
}

impl Entry {
    fn of(record: &str, found: &[Option<&str>; MEMBERS.len()], content: KeptTexts) -> Self {
        let [kind, subtype, id, parent, message, payload, ..] = *found;
        let text = |value: Option<&str>| value.and_then(string);
        let (kind, subtype) = (text(kind).unwrap_or_default(), text(subtype).unwrap_or_default());
        let kind = kind_of(&kind, &subtype, payload);
        let messages = match kind {
            Kind::Message | Kind::Result | Kind::Addition => {
                message.and_then(|message| Message::of(message, content)).into_iter().collect()
            }
            Kind::Compression => {
                let history = compressed(payload).unwrap_or_default();
                history.into_iter().map(|message| Message::of(message, content).unwrap_or_default()).collect()
            }
            Kind::Link | Kind::Note => Vec::new(),
        };
        Self { kind, id: text(id), parent: text(parent), messages, hash: hash(record) }
    }

    fn node(&self) -> Node<&str> {
        let id = self.id.as_deref().filter(|_| self.kind != Kind::Note);
        Node {
            id,
            parent: self.parent.as_deref(),
            lacks_parent: false,
            hash: self.hash,
            is_member: self.kind != Kind::Note,
        }
    }
}

fn kind_of(kind: &str, subtype: &str, payload: Option<&str>) -> Kind {
    match (kind, subtype) {
        ("system", "session_artifact_event" | "session_artifact_snapshot") => Kind::Note,
        ("system", "chat_compression") if compressed(payload).is_some() => Kind::Compression,
        ("system", _) | ("user" | "assistant" | "tool_result", "realtime_message") => Kind::Link,
        ("user", "mid_turn_user_message") => Kind::Addition,
        ("user" | "assistant", _) => Kind::Message,
        ("tool_result", _) => Kind::Result,
        _ => Kind::Note,
    }
}

/// The messages in the payload of a compression.
pub(super) fn compressed(payload: Option<&str>) -> Option<Vec<&str>> {
    let [history] = members(payload?, &["compressedHistory"]).ok()?;
    elements(history?)
}

impl Message {
    fn of(message: &str, content: KeptTexts) -> Option<Self> {
        let [role, parts] = members(message, &["role", "parts"]).ok()?;
        let parts = elements(parts?)?.into_iter().map(|part| content.keep(part).into_owned()).collect();
        Some(Self { role: role.and_then(string)?, parts })
    }
}

/// A hash of a record. It only has to tell copies in one file.
fn hash(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The session in the records.
fn session(entries: &[Entry], mut about: About) -> Reading {
    let nodes: Vec<Node<&str>> = entries.iter().map(Entry::node).collect();
    let last = nodes.iter().rposition(|node| node.id.is_some());
    let chain = Walk { parent: "parentUuid", starts_elsewhere: about.is_subagent }.from(last, &nodes, |id| id);
    let messages: Vec<CarriedMessage> = active(entries, &chain.records).iter().filter_map(Group::carry).collect();
    let has_message = |entry: &&Entry| !entry.messages.is_empty();
    let sent: usize = messages.iter().map(|message| message.records().len()).sum();
    about.inactive = entries.iter().filter(has_message).count().saturating_sub(sent);
    Reading {
        dialect: "gemini_generate",
        provider: Some("gemini"),
        messages,
        defects: chain.defects,
        chain: chain.records,
        about,
        ..Reading::default()
    }
}

/// A message of the carrier while records are added to it.
struct Group {
    role: String,
    parts: Vec<String>,
    owners: Vec<usize>,
    /// The index of the message in a compression.
    part: usize,
    kind: Kind,
}

impl Group {
    fn of(record: usize, part: usize, kind: Kind, message: &Message) -> Self {
        let owners = vec![record; message.parts.len()];
        Self { role: message.role.clone(), parts: message.parts.clone(), owners, part, kind }
    }

    fn add(&mut self, record: usize, message: &Message) {
        self.parts.extend(message.parts.iter().cloned());
        self.owners.resize(self.parts.len(), record);
    }

    fn carry(&self) -> Option<CarriedMessage> {
        let record = *self.owners.first()?;
        let text = format!("{{\"role\":{},\"parts\":[{}]}}", crate::json::quoted(&self.role), self.parts.join(","));
        Some(CarriedMessage { record, part: self.part, owners: self.owners.clone(), text })
    }
}

/// The messages in the order in which they are sent. Qwen Code sends each result of parallel calls by itself; here they are
/// one message, as Gemini's dialect asks.
fn active(entries: &[Entry], chain: &[usize]) -> Vec<Group> {
    let mut fragments: HashMap<&str, Vec<usize>> = HashMap::new();
    for (record, entry) in entries.iter().enumerate() {
        fragments.entry(entry.id.as_deref().unwrap_or_default()).or_default().push(record);
    }
    let mut groups: Vec<Group> = Vec::new();
    for record in chain {
        let entry = &entries[*record];
        if entry.kind == Kind::Compression {
            groups = entry
                .messages
                .iter()
                .enumerate()
                .map(|(part, message)| Group::of(*record, part, Kind::Compression, message))
                .collect();
            continue;
        }
        let others = entry.id.as_deref().and_then(|id| fragments.get(id)).map_or(&[][..], Vec::as_slice);
        // A copy is removed, so it adds nothing.
        let is_fragment = |other: &&usize| *other == record || entries[**other].hash != entry.hash;
        for (index, record) in others.iter().filter(is_fragment).enumerate() {
            let entry = &entries[*record];
            let Some(message) = entry.messages.first().filter(|_| entry.kind != Kind::Compression) else { continue };
            match groups.last_mut() {
                Some(last) if index > 0 || joins(last, entry.kind) => last.add(*record, message),
                _ => groups.push(Group::of(*record, 0, entry.kind, message)),
            }
        }
    }
    groups
}

/// Whether a record adds to the message before it.
fn joins(last: &Group, kind: Kind) -> bool {
    let is_open = last.role == "user" && last.kind != Kind::Compression;
    is_open
        && match kind {
            Kind::Result => matches!(last.kind, Kind::Result),
            Kind::Addition => true,
            Kind::Message | Kind::Compression | Kind::Link | Kind::Note => false,
        }
}
