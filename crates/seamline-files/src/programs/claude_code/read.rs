//! Reads the conversation that Claude Code would send.
//!
//! Each record names its parent. Claude Code walks from the last message to the first one. One response is several records
//! with the same `message.id`, one per block, and the results of parallel calls hang off the record of their call, so the
//! walk alone misses records: all records of a response on the path belong to it, and so do the results of its calls.

use std::borrow::Cow;
use std::num::NonZeroU32;

use super::active::active;
use crate::json::{Object, elements, members, unquoted};
use crate::lines;
use crate::session::{
    About, CarriedMessage, FileInput, FileReading, IdList, IdNumber, Ids, KeptTexts, Node, Reading, TextPlace, Texts,
    Walk,
};

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

/// The position of the message among the members.
const MESSAGE: usize = 4;

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut entries = Vec::with_capacity(content.records());
    let (mut ids, mut texts) = (Ids::default(), Texts::new(content));
    let mut about = About::default();
    let lines = lines::read(input.bytes, &mut |text| {
        let mut found = members(text, &MEMBERS)?;
        let whole = found[MESSAGE];
        let message = whole.map(|message| content.keep(message));
        found[MESSAGE] = message.as_deref();
        note(&mut about, &found);
        let mut entry = Entry::of(&found, &mut ids, &mut texts);
        if let Some(whole) = whole.filter(|_| entry.is_message()) {
            entry.hash = content.digest(whole);
        }
        entries.push(entry);
        Ok(())
    })?;
    let session = session(entries, (ids, texts), about, content);
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}

/// Keeps what describes the session.
fn note(about: &mut About, found: &[Option<&str>; MEMBERS.len()]) {
    let [kind, _, _, _, message, session, timestamp, cwd, _, summary, custom_title, ai_title, agent, ..] = found;
    if about.id.is_none() {
        about.id = session.and_then(unquoted).map(Cow::into_owned);
    }
    let title = custom_title.and_then(unquoted).or_else(|| ai_title.and_then(unquoted));
    let is_summary = *kind == Some("\"summary\"");
    let title = title.or_else(|| summary.filter(|_| is_summary).and_then(unquoted));
    let model = message.and_then(|message| members(message, &["model"]).ok()).and_then(|[model]| model);
    let model = model.and_then(unquoted).filter(|model| !model.starts_with('<'));
    keep_last(&mut about.title, title);
    keep_last(&mut about.model, model);
    keep_last(&mut about.folder, cwd.and_then(unquoted));
    keep_last(&mut about.updated, timestamp.and_then(unquoted));
    about.is_subagent |= agent.is_some();
}

/// Takes a text over if there is one, in the memory of the one before.
fn keep_last(kept: &mut Option<String>, text: Option<Cow<'_, str>>) {
    if let Some(text) = text {
        text.as_ref().clone_into(kept.get_or_insert_default());
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

/// The part of a record that a reading keeps.
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) is_side: bool,
    /// Whether Claude Code wrote the message and not the user.
    is_meta: bool,
    pub(super) id: Option<IdNumber>,
    pub(super) parent: Option<IdNumber>,
    /// Whether the record has an id and no member that names its parent.
    pub(super) lacks_parent: bool,
    /// The id of the response that a record is a block of.
    pub(super) response: Option<IdNumber>,
    /// A hash of the id of its request. It only has to tell the requests of one response id.
    pub(super) request: Option<NonZeroU32>,
    /// The id of the record whose call a result answers.
    pub(super) source: Option<IdNumber>,
    /// The ids of the calls that it makes, and of those that it answers.
    pub(super) calls: IdList,
    pub(super) answered: IdList,
    /// The text of the message for the carrier; nothing if Claude Code would not send it, or if the text was taken.
    message: Option<TextPlace>,
    /// The hash of the whole message, to tell copies.
    hash: u64,
}

impl Entry {
    fn of(found: &[Option<&str>; MEMBERS.len()], ids: &mut Ids, texts: &mut Texts) -> Self {
        let [kind, id, parent, side, message, _, _, _, failed, _, _, _, _, request, source, meta] = *found;
        let mut number = |value: Option<&str>| value.and_then(unquoted).map(|text| ids.number(&text));
        let kind = match kind {
            Some("\"user\"") => Kind::User,
            Some("\"assistant\"") => Kind::Assistant,
            _ if id.is_some() => Kind::Link,
            _ => Kind::Note,
        };
        let mut entry = Self {
            kind,
            is_side: side == Some("true"),
            is_meta: meta == Some("true"),
            id: number(id),
            parent: number(parent),
            lacks_parent: id.is_some() && parent.is_none(),
            response: None,
            request: request.and_then(|request| NonZeroU32::new(KeptTexts::Abridged.digest(request) as u32)),
            source: number(source),
            calls: IdList::default(),
            answered: IdList::default(),
            message: None,
            hash: 0,
        };
        if let Some(message) = message.filter(|_| matches!(kind, Kind::User | Kind::Assistant)) {
            let text = entry.read_message(message, ids, failed == Some("true"));
            entry.message =
                text.and_then(|[role, content]| texts.add(&["{\"role\":", &role, ",\"content\":", &content, "}"]));
        }
        entry
    }

    /// Notes the ids in a message. Returns the role and the content that Claude Code sends, if it sends the message.
    fn read_message<'m>(&mut self, message: &'m str, ids: &mut Ids, is_failure: bool) -> Option<[Cow<'m, str>; 2]> {
        let [id, role, blocks] = members(message, &["id", "role", "content"]).ok()?;
        let is_response = self.kind == Kind::Assistant;
        let id = id.filter(|_| is_response).and_then(unquoted).filter(|id| !id.is_empty());
        self.response = id.map(|id| ids.number(&id));
        let role = role.unwrap_or(if self.kind == Kind::User { "\"user\"" } else { "\"assistant\"" });
        let blocks = blocks.filter(|_| !is_failure)?;
        let Some(list) = elements(blocks) else {
            let is_blank = unquoted(blocks).is_some_and(|text| text.trim().is_empty());
            return (!is_blank).then_some([role.into(), blocks.into()]);
        };
        let kept: Vec<&str> = list.iter().copied().filter(|block| !self.read_block(block, ids)).collect();
        let blocks =
            if kept.len() == list.len() { Cow::Borrowed(blocks) } else { format!("[{}]", kept.join(",")).into() };
        (!kept.is_empty()).then(|| [role.into(), blocks])
    }

    /// Notes the ids of a block. Returns whether Claude Code leaves the block out: a text of spaces only, or
    /// thinking without a signature.
    fn read_block(&mut self, block: &str, ids: &mut Ids) -> bool {
        let names = ["type", "id", "tool_use_id", "text", "signature"];
        let Ok([kind, id, answered, text, signature]) = members(block, &names) else { return false };
        let mut number = |value: Option<&str>| value.and_then(unquoted).map(|id| ids.number(&id));
        match kind {
            Some("\"tool_use\"") => number(id).into_iter().for_each(|id| self.calls.push(id)),
            Some("\"tool_result\"") => number(answered).into_iter().for_each(|id| self.answered.push(id)),
            Some("\"text\"") => return text.and_then(unquoted).is_some_and(|text| text.trim().is_empty()),
            Some("\"thinking\"") => return signature.and_then(unquoted).is_none_or(|signature| signature.is_empty()),
            _ => {}
        }
        false
    }

    fn node(&self, is_side: bool) -> Node<IdNumber> {
        Node {
            id: self.id,
            parent: self.parent,
            lacks_parent: self.lacks_parent,
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
        self.kind == Kind::User && self.is_sent() && !self.is_meta && self.answered.is_empty()
    }
}

/// The session in the records.
fn session(mut entries: Vec<Entry>, (ids, texts): (Ids, Texts), mut about: About, content: KeptTexts) -> Reading {
    // A file of a sub-agent has only side records, and they are its conversation.
    let is_side = !entries.iter().any(|entry| entry.is_message() && !entry.is_side);
    about.is_subagent |= is_side;
    let nodes: Vec<Node<IdNumber>> = entries.iter().map(|entry| entry.node(is_side)).collect();
    let last = nodes.iter().zip(&entries).rposition(|(node, entry)| node.is_member && entry.is_message());
    // The parents of a sub-agent's first records are in the file of the session that started it.
    let chain = Walk { parent: "parentUuid", starts_elsewhere: is_side }.from(last, &nodes, |id| ids.text(id));
    // A long file has many of them, and its messages are written next.
    drop((nodes, ids));
    let active = active(&entries, &chain.records);
    about.inactive =
        entries.iter().filter(|entry| entry.is_message()).count().saturating_sub(active.iter().map(Vec::len).sum());
    let (dialect, provider, defects) = ("anthropic_messages", Some("anthropic"), chain.defects);
    let mut reading = Reading { dialect, provider, defects, chain: chain.records, about, ..Reading::default() };
    let mut list = texts.into_list();
    for group in &active {
        let mut shown = Vec::with_capacity(group.len());
        for record in group {
            shown.extend(entries[*record].message.take().map(|text| (*record, list.take(text))));
        }
        let Some(mut message) = carried(shown) else { continue };
        if content == KeptTexts::Abridged {
            list.push(&std::mem::take(&mut message.text), |record| entries.get(record).map(|entry| entry.message));
        }
        reading.messages.push(message);
    }
    if content == KeptTexts::Abridged {
        reading.set_texts(list);
    }
    reading
}

/// The message that Claude Code makes of records, which are given with their texts.
fn carried(mut shown: Vec<(usize, String)>) -> Option<CarriedMessage> {
    if let [(record, text)] = shown.as_mut_slice() {
        return Some(CarriedMessage::of(*record, std::mem::take(text)));
    }
    let (first, text) = shown.first()?;
    let mut blocks = Vec::new();
    let mut owners = Vec::new();
    for (record, text) in &shown {
        let content = members(text, &["content"]).ok().and_then(|[content]| content)?;
        match elements(content) {
            Some(list) => {
                owners.extend(std::iter::repeat_n(*record, list.len()));
                blocks.extend(list);
            }
            None => return None,
        }
    }
    // Claude Code sends the results of parallel calls first, then the user's comments on them.
    let is_result = |block: &str| members(block, &["type"]).is_ok_and(|[kind]| kind == Some("\"tool_result\""));
    let mut sent: Vec<(&str, usize)> = blocks.into_iter().zip(owners).collect();
    sent.sort_by_key(|(block, _)| !is_result(block));
    let (blocks, owners): (Vec<&str>, Vec<usize>) = sent.into_iter().unzip();
    let mut text = Object::of(text)?.with(&[("content", Some(format!("[{}]", blocks.join(","))))]);
    text.shrink_to_fit();
    Some(CarriedMessage { record: *first, part: 0, owners, text })
}

/// The content of a record's message, for tests and for writing.
pub(super) fn message_of(record: &str) -> Option<Object<'_>> {
    members(record, &["message"]).ok().and_then(|[message]| message).and_then(Object::of)
}
