//! Renders messages of other dialects in the dialect of a wire.
//!
//! Messages of the wire's own dialect keep their bytes. The others are repaired in their own dialect and cut into pieces
//! that hold whole cycles (`parts`). Each piece is lifted, renamed and rendered by itself, so that a later message changes
//! no earlier one. A call without a result stays open: the repair of the request gives it one, as the policy says.

use std::borrow::Cow;
use std::collections::HashMap;

use seamline_dialects::convert::{ForeignReasoning, Target};
use seamline_model::conversation::{Conversation, LiftedBlock, LiftedMessage, Says, Speaker};
use seamline_model::{IdDemand, IdMap, NameDemand};
use seamline_store::{Cut, Entry, Raw};
use serde_json::value::RawValue;

use super::Wire;
use super::mixed::runs;
use super::parts::Part;
use crate::Error;
use crate::outline::OutlineKind;
use crate::repair::RepairAction;
use crate::session::SessionError;
use crate::session::recover::texts;

/// The text of a message in place of all messages before a piece. It is not sent.
const BEFORE: &str = "before";

/// Messages in the dialect of a wire.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::session) struct Rendered<'e> {
    entries: Cow<'e, [Entry]>,
    /// For each message, the index of the stored message that has the same bytes; `None` if it was rendered. Not used if all
    /// messages are the stored ones.
    sources: Vec<Option<usize>>,
    /// The system prompt that another dialect keeps among its messages.
    prompt: Option<Prompt>,
    /// The repairs of messages of other dialects before they were rendered.
    actions: Vec<RepairAction>,
}

/// A system prompt for a dialect that keeps it beside the messages.
#[derive(Debug, Clone, PartialEq)]
struct Prompt {
    /// The name of the member of the request that holds it.
    member: &'static str,
    /// The value of that member.
    value: String,
    /// The same as messages, for a request that has a system prompt of its own.
    messages: Vec<Entry>,
}

impl<'e> Rendered<'e> {
    /// The messages. A system prompt that belongs beside them is not among them.
    pub(in crate::session) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The repairs of messages of other dialects before they were rendered, with the places of the stored messages.
    pub(in crate::session) fn actions(&self) -> &[RepairAction] {
        &self.actions
    }

    /// The same without a borrow.
    pub(in crate::session) fn into_owned(self) -> Rendered<'static> {
        let Self { entries, sources, prompt, actions } = self;
        Rendered { entries: Cow::Owned(entries.into_owned()), sources, prompt, actions }
    }

    /// Whether all messages are the stored ones.
    pub(in crate::session) fn is_stored(&self) -> bool {
        matches!(self.entries, Cow::Borrowed(_))
    }

    /// The same change of the stored messages; none where it changes a message that was rendered.
    pub(in crate::session) fn stored_cut(&self, cut: &Cut) -> Option<Cut> {
        if self.is_stored() {
            return Some(cut.clone());
        }
        let (start, removed) = (cut.at as usize, cut.removed as usize);
        let source = |at: usize| self.sources.get(at).copied().flatten();
        let before = || start.checked_sub(1).and_then(source).map(|last| last + 1);
        let at = source(start).or_else(before)?;
        let is_stored = (0..removed).all(|offset| source(start + offset) == Some(at + offset));
        is_stored.then(|| Cut { at: at as u64, ..cut.clone() })
    }

    /// Adds stored messages of the same dialect behind the others.
    pub(in crate::session) fn extend(&mut self, entries: &[Entry], first: usize) {
        self.entries.to_mut().extend_from_slice(entries);
        self.sources.extend((first..first + entries.len()).map(Some));
    }

    /// The messages for a request with this envelope, and the envelope with the system prompt, if it has none.
    pub(in crate::session) fn for_envelope(self, envelope: &str) -> (Cow<'e, [Entry]>, Cow<'_, str>) {
        let Some(prompt) = self.prompt else { return (self.entries, Cow::Borrowed(envelope)) };
        let members = serde_json::from_str::<HashMap<String, &RawValue>>(envelope);
        // The writer of the body says what is wrong with an envelope that is not an object.
        let Ok(members) = members else { return (self.entries, Cow::Borrowed(envelope)) };
        if members.keys().any(|member| *member == prompt.member || in_camel_case(member) == prompt.member) {
            let all = prompt.messages.into_iter().chain(self.entries.into_owned());
            return (all.collect(), Cow::Borrowed(envelope));
        }
        let trimmed = envelope.trim();
        let inside = trimmed.strip_suffix('}').unwrap_or(trimmed).trim_end();
        let comma = if members.is_empty() { "" } else { "," };
        (self.entries, Cow::Owned(format!("{inside}{comma}\"{}\":{}}}", prompt.member, prompt.value)))
    }
}

impl Wire {
    /// Whether a message is of this dialect.
    pub(in crate::session) fn is_own(&self, entry: &Entry) -> bool {
        self.dialect_of(entry.dialect.as_ref()) == self.dialect
    }

    /// Renders messages in this dialect.
    pub(in crate::session) fn rendered<'e>(&self, entries: &'e [Entry]) -> Result<Rendered<'e>, SessionError> {
        if entries.iter().all(|entry| self.is_own(entry)) {
            let (entries, sources) = (Cow::Borrowed(entries), Vec::new());
            return Ok(Rendered { entries, sources, prompt: None, actions: Vec::new() });
        }
        let (parts, actions) = self.parts(entries)?;
        let mut rendered = Rendered { entries: Cow::Owned(Vec::new()), sources: Vec::new(), prompt: None, actions };
        let mut ids = Ids::new(self.call_id());
        for (number, part) in parts.into_iter().enumerate() {
            let piece = match part {
                Part::Own { first, entries } => {
                    self.reserve_ids(entries, &mut ids)?;
                    rendered.extend(entries, first);
                    continue;
                }
                Part::Foreign(piece) => piece,
            };
            let mut conversation = self.lifted(&piece)?;
            if number == 0 {
                rendered.prompt = self.prompt(&piece[0], &mut conversation)?;
            }
            system_to_message(&mut conversation);
            ids.rename(&mut conversation);
            let messages = self.rendered_piece(&piece[0], &mut conversation)?;
            rendered.sources.extend(messages.iter().map(|_| None));
            rendered.entries.to_mut().extend(messages);
        }
        Ok(rendered)
    }

    /// Reserves the ids of calls that keep their bytes.
    fn reserve_ids(&self, piece: &[Entry], ids: &mut Ids) -> Result<(), SessionError> {
        let messages: Vec<&Raw> = piece.iter().map(|entry| &entry.message).collect();
        let outline = self.outline(&messages)?;
        let calls = outline.iter().flat_map(|message| &message.blocks).filter(|block| block.kind == OutlineKind::Call);
        calls.filter_map(|call| call.id.as_deref()).for_each(|id| ids.reserve(id));
        Ok(())
    }

    /// Lifts messages, each in its own dialect, into one conversation.
    fn lifted(&self, piece: &[Entry]) -> Result<Conversation, SessionError> {
        let entries: Vec<&Entry> = piece.iter().collect();
        let mut all = Conversation::default();
        for (number, run) in runs(&entries).enumerate() {
            let wire = self.for_dialect(run[0].dialect.as_ref())?;
            let body = wire.body("{}", run.iter().map(|entry| &entry.message))?;
            let mut lifted = wire.functions.lift(&body).map_err(Error::from)?;
            if number == 0 {
                all = lifted;
                continue;
            }
            system_to_message(&mut lifted);
            // A pointer identifies a block, and each run counts its messages from the first.
            for block in lifted.messages.iter_mut().flat_map(|message| &mut message.blocks) {
                block.pointer = format!("/{number}{}", block.pointer);
            }
            all.messages.extend(lifted.messages);
        }
        Ok(all)
    }

    /// Takes the system prompt out of the start of a conversation, if this dialect keeps it beside the messages.
    fn prompt(&self, first: &Entry, conversation: &mut Conversation) -> Result<Option<Prompt>, SessionError> {
        let Some(member) = self.functions.prompt().filter(|_| !conversation.system.is_empty()) else { return Ok(None) };
        let mut said = Conversation { system: std::mem::take(&mut conversation.system), ..Conversation::default() };
        let body = self.functions.render(said.clone(), &self.target(&[])).body;
        let members: HashMap<&str, &RawValue> = serde_json::from_str(&body).unwrap_or_default();
        let Some(value) = members.get(member).map(|value| value.get().to_owned()) else {
            conversation.system = said.system;
            return Ok(None);
        };
        system_to_message(&mut said);
        let messages = self.rendered_piece(first, &mut said)?;
        Ok(Some(Prompt { member, value, messages }))
    }

    /// Renders a conversation as messages of this dialect.
    fn rendered_piece(&self, first: &Entry, conversation: &mut Conversation) -> Result<Vec<Entry>, SessionError> {
        if conversation.messages.is_empty() {
            return Ok(Vec::new());
        }
        // Some dialects open a conversation of the assistant with a message of the user, and this one is in the middle.
        let opens = conversation.messages.iter().take(1).any(|message| message.speaker == Speaker::Assistant);
        if opens {
            let blocks = vec![LiftedBlock::new(Says::Text(BEFORE.to_owned()), BEFORE)];
            conversation.messages.insert(0, LiftedMessage { speaker: Speaker::User, blocks });
        }
        let made_up = self.note_synthetic(conversation);
        let body = self.functions.render(conversation.clone(), &self.target(&made_up)).body;
        let spans = crate::outline::message_spans(body.as_bytes(), &self.options)?;
        let spans = spans.into_iter().skip(usize::from(opens));
        let messages = spans.filter_map(|span| body.get(span)).map(Raw::parse);
        let entry = |message: Result<Raw, _>| Ok(Entry { message: message?, dialect: self.mark(), ..first.clone() });
        messages.map(entry).collect()
    }

    /// Notes that a call with a synthetic result has not succeeded, unless the text is the start of a real result, and
    /// gives the texts of these results.
    fn note_synthetic(&self, conversation: &mut Conversation) -> Vec<String> {
        let mut own = self.options.policy.own_texts();
        for block in conversation.messages.iter_mut().flat_map(|message| &mut message.blocks) {
            if let Says::Result(result) = &mut block.says
                && let [LiftedBlock { says: Says::Text(text), .. }] = result.blocks.as_slice()
                && self.is_synthetic(text)
            {
                result.failed |= !texts::is_truncated(text);
                own.push(text.clone());
            }
        }
        own
    }

    fn target<'t>(&'t self, made_up: &'t [String]) -> Target<'t> {
        Target {
            provider: Some(self.provider()),
            model: None,
            call_id: self.call_id(),
            tool_name: self.tool_name(),
            missing: None,
            made_up,
            foreign_reasoning: ForeignReasoning::Drop,
            layout: b"{}",
        }
    }

    /// The demands on the id of a call. Without a provider they are the strictest of the dialect.
    fn call_id(&self) -> IdDemand {
        if self.options.provider.is_some() { self.demands().constraints.call_id } else { self.functions.call_id() }
    }

    /// The demands on the name of a tool.
    fn tool_name(&self) -> NameDemand {
        if self.options.provider.is_some() { self.demands().constraints.tool_name } else { self.functions.tool_name() }
    }
}

/// The name of a member in camel case. Google's JSON has two spellings of each name.
fn in_camel_case(member: &str) -> String {
    let mut words = member.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (start, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        name + &start.to_ascii_uppercase() + rest
    })
}

/// Moves the system prompt of a conversation into its first message.
fn system_to_message(conversation: &mut Conversation) {
    let blocks = std::mem::take(&mut conversation.system);
    if !blocks.is_empty() {
        conversation.messages.insert(0, LiftedMessage { speaker: Speaker::System, blocks });
    }
}

/// The new ids of calls, in the order of the conversation: a later call changes no earlier id.
struct Ids {
    map: IdMap,
    /// The number of earlier pieces that have a call of this id.
    counts: HashMap<String, usize>,
}

impl Ids {
    fn new(demand: IdDemand) -> Self {
        Self { map: IdMap::growing(demand), counts: HashMap::new() }
    }

    fn reserve(&mut self, id: &str) {
        self.map.reserve(id);
        *self.counts.entry(id.to_owned()).or_default() += 1;
    }

    /// Renames the calls of a piece and the results that answer them.
    fn rename(&mut self, conversation: &mut Conversation) {
        let mut renamed: HashMap<String, String> = HashMap::new();
        for call in conversation.calls() {
            if !renamed.contains_key(&call.id) {
                let made = self.next(&call.id);
                renamed.insert(call.id.clone(), made);
            }
        }
        for block in conversation.messages.iter_mut().flat_map(|message| &mut message.blocks) {
            let id = match &mut block.says {
                Says::Call(call) => &mut call.id,
                Says::Result(result) => &mut result.id,
                Says::Text(_) | Says::Reasoning(_) | Says::Media(_) | Says::Refusal(_) | Says::Opaque(_) => continue,
            };
            if let Some(made) = renamed.get(id) {
                id.clone_from(made);
            }
        }
    }

    fn next(&mut self, id: &str) -> String {
        let count = self.counts.entry(id.to_owned()).or_default();
        *count += 1;
        if *count == 1 { self.map.add(id) } else { self.map.again(id, *count - 1) }
    }
}
