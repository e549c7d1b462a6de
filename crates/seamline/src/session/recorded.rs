//! Ids of the session: under `id_mode = "canonical"` calls and their results get them when they are recorded (S2-02).

use std::collections::{BTreeMap, HashMap, HashSet};

use seamline_dialects::Dialect;
use seamline_model::{Block, BlockIndex, BlockKind, Edit, IdDemand, IdForm, Transcript};
use seamline_rules::Rewrite;
use seamline_store::{CallId, CycleId, Hash, Raw, Record, RenamedCall, RenamedCalls};

use crate::policy::IdMode;
use crate::session::SessionError;
use crate::session::facts::{Batch, Facts, said};
use crate::session::readdress::{StoredIds, readdress};
use crate::session::wire::{ToolTurn, Wire};
use crate::stream::RefusedCall;
use crate::subject::Subject;

/// The longest part of an id that the id of the session keeps.
const STEM_LEN_MAX: usize = 48;

/// The most places of a block in which an id is looked for.
const PLACES_MAX: usize = 64;

/// The most new ids for which the view is searched one by one. For more, its strings are collected once.
const SEARCHES_MAX: usize = 8;

/// The digits of the hash in an id whose plain form is taken.
const HASH_DIGITS: usize = 24;

/// Messages that are about to be recorded, and the calls in them that got the id of the session.
pub(in crate::session) struct Recorded {
    pub(in crate::session) messages: Vec<Raw>,
    pub(in crate::session) renamed: Vec<RenamedCall>,
}

impl Facts<'_> {
    /// Plans the records of messages that the host gives.
    pub(in crate::session) fn plan_messages(
        &self,
        wire: &Wire,
        messages: Vec<Raw>,
        stored: &StoredIds,
    ) -> Result<Batch, SessionError> {
        let messages = readdress(wire, messages, stored)?;
        let Recorded { messages, renamed } = self.record_ids(wire, messages)?;
        let names = renamed_record(renamed).into_iter();
        Ok(Batch::of(names.chain(messages.into_iter().map(|message| said(wire, message))).collect()))
    }

    /// Gives calls and results the ids of the session, where the policy asks for it. Nothing else changes.
    pub(in crate::session) fn record_ids(&self, wire: &Wire, messages: Vec<Raw>) -> Result<Recorded, SessionError> {
        let is_asked = self.config().enabled && self.wire.repairs().id_mode == IdMode::Canonical;
        if !is_asked || messages.is_empty() {
            return Ok(Recorded { messages, renamed: Vec::new() });
        }
        let mut renamed = Vec::new();
        let written = with_ids(wire, &messages, |transcript, subject| {
            let mut names = Names::of(self, subject, ids(transcript).len());
            let edits = id_edits(transcript, &mut names);
            renamed = names.new;
            edits
        })?;
        Ok(match written {
            Some(messages) => Recorded { messages, renamed },
            None => Recorded { messages, renamed: Vec::new() },
        })
    }

    /// The id that a call of an open cycle has in the log. The host may know it by the id that the model gave.
    pub(in crate::session) fn recorded_id(&self, cycle: &CycleId, call: &CallId) -> CallId {
        let Some(open) = self.state.cycle(cycle) else { return call.clone() };
        let is_call = |id: &CallId| open.calls.iter().any(|made| made.id == *id);
        if is_call(call) {
            return call.clone();
        }
        let renamed = self.state.renamed.iter().rev().filter(|renamed| renamed.from == *call);
        renamed.map(|renamed| &renamed.to).find(|id| is_call(id)).unwrap_or(call).clone()
    }

    /// The calls of a turn that a stream refused, under their ids in the log.
    pub(in crate::session) fn recorded_refusals(&self, turn: &ToolTurn, refused: &[RefusedCall]) -> Vec<RefusedCall> {
        let names = |id: &CallId| {
            let known = turn.renamed.iter().chain(self.state.renamed.iter().rev());
            known.filter(|renamed| is_of_session(&renamed.to)).find(|renamed| renamed.from == *id).cloned()
        };
        let is_kept = |call: &RefusedCall| turn.calls.iter().any(|made| made.own_id() == Some(call.id.as_str()));
        let recorded = |call: &RefusedCall| match names(&call.id) {
            Some(renamed) if !is_kept(call) => RefusedCall { id: renamed.to.clone(), ..call.clone() },
            _ => call.clone(),
        };
        refused.iter().map(recorded).collect()
    }
}

/// Writes messages with other ids of calls and results; nothing if no id changes or the messages cannot be written so.
pub(in crate::session) fn with_ids(
    wire: &Wire,
    messages: &[Raw],
    plan: impl FnOnce(&Transcript<'_>, &Subject) -> Vec<Edit>,
) -> Result<Option<Vec<Raw>>, SessionError> {
    let body = wire.body("{}", messages.iter())?;
    let dialect = Subject::dialect(&body, &wire.options)?;
    let transcript = Subject::transcript(dialect, &body, &wire.options)?;
    let subject = Subject::of(dialect, &transcript, &wire.options)?;
    let edits = plan(&transcript, &subject);
    if edits.is_empty() {
        return Ok(None);
    }
    let encoded = subject.write(&transcript, &edits);
    let source = encoded.source(&body);
    let written = encoded.spans.iter().map(|span| {
        let bytes = source.get(*span).unwrap_or_default();
        Raw::parse(String::from_utf8_lossy(bytes))
    });
    let written: Vec<Raw> = written.collect::<Result<_, _>>()?;
    let expected = ids_after(&transcript, &edits);
    let is_right = |written: &[Raw]| -> Result<bool, SessionError> {
        let body = wire.body("{}", written.iter())?;
        let again = Subject::transcript(dialect, &body, &wire.options)?;
        Ok(written.len() == messages.len() && ids(&again) == expected)
    };
    if is_right(&written)? {
        return Ok(Some(written));
    }
    // The writer arranges blocks in odd places; the text of the ids can be replaced there.
    let Some(replaced) = replace_ids(wire, dialect, body.clone(), &edits)? else { return Ok(None) };
    Ok(is_right(&replaced)?.then_some(replaced))
}

/// The record of the calls that got another id, if there are any.
pub(in crate::session) fn renamed_record(calls: Vec<RenamedCall>) -> Option<Record> {
    (!calls.is_empty()).then_some(Record::Renamed(RenamedCalls { calls }))
}

/// The ids of the session, by the ids that the model gave.
struct Names<'f> {
    facts: &'f Facts<'f>,
    demand: IdDemand,
    known: HashMap<&'f str, &'f str>,
    /// The strings of all messages, where there are many ids to look for.
    strings: Option<HashSet<&'f str>>,
    /// The ids that are given out now.
    new: Vec<RenamedCall>,
}

impl<'f> Names<'f> {
    fn of(facts: &'f Facts<'f>, subject: &Subject, count: usize) -> Self {
        let renamed = facts.state.renamed.iter().filter(|renamed| is_of_session(&renamed.to));
        let known = renamed.map(|renamed| (renamed.from.as_str(), renamed.to.as_str())).collect();
        // The parts between quotes: an id has no quote in it.
        let strings = || stored(facts).flat_map(|message| message.split('"')).collect();
        let strings = (count > SEARCHES_MAX).then(strings);
        Self { facts, demand: subject.provider.constraints.call_id, known, strings, new: Vec::new() }
    }

    /// The id of the session for an id that was seen before. A repair may have given the call another one since.
    fn known(&self, id: &str) -> Option<String> {
        let new = self.new.iter().find(|renamed| renamed.from == *id).map(|renamed| renamed.to.as_str());
        let before = || self.known.get(id).copied().filter(|known| self.is_in_view(known));
        new.or_else(before).map(str::to_owned)
    }

    /// The id of the session for the id of a call. An id that the view has already stays: a result may name it.
    fn name(&mut self, id: &str) -> Option<String> {
        if let Some(known) = self.known(id) {
            return Some(known);
        }
        if id.trim().is_empty() || id.starts_with(IdForm::INTERNAL) || self.is_in_view(id) {
            return None;
        }
        let made = self.make(id)?;
        self.new.push(RenamedCall { from: id.into(), to: made.as_str().into() });
        Some(made)
    }

    /// An id of the session for this one, unless the id has characters of its own: requests give such an id another form
    /// for each provider.
    fn make(&self, id: &str) -> Option<String> {
        let mut prefixes = self.demand.known_prefixes.iter().copied().flatten();
        let stem = prefixes.find_map(|prefix| id.strip_prefix(prefix)).unwrap_or(id);
        let is_word = stem.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'));
        if !is_word || stem.is_empty() || stem.len() > STEM_LEN_MAX {
            return None;
        }
        let plain = format!("{}{stem}", IdForm::INTERNAL);
        if !self.is_taken(&plain) {
            return Some(plain);
        }
        let hashed = |salt: u32| {
            let hash = Hash::of(id.as_bytes()).then(&salt.to_be_bytes()).to_string();
            format!("{}{}", IdForm::INTERNAL, &hash[..HASH_DIGITS])
        };
        (0..=u32::MAX).map(hashed).find(|made| !self.is_taken(made))
    }

    fn is_taken(&self, made: &str) -> bool {
        let mut given = self.new.iter().map(|renamed| renamed.to.as_str()).chain(self.known.values().copied());
        given.any(|id| id == made) || self.is_in_view(made)
    }

    fn is_in_view(&self, id: &str) -> bool {
        match &self.strings {
            Some(strings) if !id.contains('"') => strings.contains(id),
            Some(_) | None => {
                let quoted = quoted(id);
                stored(self.facts).any(|message| message.contains(&quoted))
            }
        }
    }
}

/// The texts of the messages of the view and of open cycles.
fn stored<'f>(facts: &'f Facts<'f>) -> impl Iterator<Item = &'f str> {
    let cycles = facts.state.cycles.iter().flat_map(|cycle| &cycle.turn);
    facts.entries().iter().map(|entry| &entry.message).chain(cycles).map(Raw::as_str)
}

/// The edits that give calls and results the ids of the session.
fn id_edits(transcript: &Transcript<'_>, names: &mut Names<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let ids = ids(transcript);
    for (at, id) in &ids {
        let BlockKind::Call(call) = &transcript.block(*at).kind else { continue };
        // Where ids are not demanded, the name of the tool identifies a call without one.
        let is_name = !names.demand.demanded && transcript.name(call.tool) == Some(*id);
        if !is_name && let Some(id) = names.name(id) {
            edits.push(Edit::SetCallId { call: *at, id });
        }
    }
    for (at, id) in &ids {
        let is_result = matches!(transcript.block(*at).kind, BlockKind::Result(_));
        if is_result && let Some(id) = names.known(id) {
            edits.push(Edit::SetCallId { call: *at, id });
        }
    }
    edits
}

/// The ids of calls and results, by their blocks.
pub(in crate::session) fn ids<'t>(transcript: &'t Transcript<'_>) -> BTreeMap<BlockIndex, &'t str> {
    let id = |(at, block): (u32, &'t Block)| match &block.kind {
        BlockKind::Call(call) => Some((BlockIndex(at), call.id.as_deref()?)),
        BlockKind::Result(result) => Some((BlockIndex(at), result.id.as_deref()?)),
        BlockKind::Text(_)
        | BlockKind::ServerCall(_)
        | BlockKind::ServerResult(_)
        | BlockKind::Reasoning { .. }
        | BlockKind::Media
        | BlockKind::Opaque => None,
    };
    (0..).zip(&transcript.blocks).filter_map(id).collect()
}

/// The ids after these edits.
fn ids_after<'t>(transcript: &'t Transcript<'_>, edits: &'t [Edit]) -> BTreeMap<BlockIndex, &'t str> {
    let mut ids = ids(transcript);
    for edit in edits {
        if let Edit::SetCallId { call, id } = edit {
            ids.insert(*call, id);
        }
    }
    ids
}

/// The messages with the text of each id replaced, in the block that has it and nowhere else.
fn replace_ids(
    wire: &Wire,
    dialect: &'static Dialect,
    mut body: Vec<u8>,
    edits: &[Edit],
) -> Result<Option<Vec<Raw>>, SessionError> {
    for edit in edits {
        let Edit::SetCallId { call, id } = edit else { continue };
        let Some(replaced) = replace_id(wire, dialect, &body, (*call, id))? else { return Ok(None) };
        body = replaced;
    }
    let transcript = Subject::transcript(dialect, &body, &wire.options)?;
    let messages = transcript.messages.iter().map(|message| Raw::parse(transcript.text(message.span)));
    Ok(Some(messages.collect::<Result<_, _>>()?))
}

/// The body with another id for one block. An argument or a text may equal the id: the right place is the one after whose
/// change the block has the new id, and every other block keeps its own.
fn replace_id(
    wire: &Wire,
    dialect: &'static Dialect,
    body: &[u8],
    (call, id): (BlockIndex, &str),
) -> Result<Option<Vec<u8>>, SessionError> {
    let transcript = Subject::transcript(dialect, body, &wire.options)?;
    let mut expected = ids(&transcript);
    let Some(old) = expected.insert(call, id) else { return Ok(None) };
    let (old, new, span) = (quoted(old), quoted(id), transcript.block(call).span);
    let start = span.start as usize;
    for (at, _) in transcript.text(span).match_indices(&old).take(PLACES_MAX) {
        let (front, back) = (&body[..start + at], &body[start + at + old.len()..]);
        let replaced = [front, new.as_bytes(), back].concat();
        let again = Subject::transcript(dialect, &replaced, &wire.options)?;
        if ids(&again) == expected {
            drop(again);
            return Ok(Some(replaced));
        }
    }
    Ok(None)
}

fn is_of_session(id: &CallId) -> bool {
    id.as_str().starts_with(IdForm::INTERNAL)
}

/// An id as messages have it.
fn quoted(id: &str) -> String {
    format!("\"{id}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire() -> Wire {
        let dialect = Some("anthropic_messages".to_owned());
        Wire::new(crate::Options { dialect, ..crate::Options::default() }).unwrap()
    }

    #[test]
    fn only_the_id_of_the_block_is_replaced() {
        let wire = wire();
        let turn = r#"{"role":"assistant","content":[{"type":"text","text":"toolu_1"},{"type":"tool_use","input":{"path":"toolu_1"},"id":"toolu_1","name":"toolu_1"}]}"#;
        let body = wire.body("{}", [Raw::parse(turn).unwrap()].iter()).unwrap();
        let dialect = Subject::dialect(&body, &wire.options).unwrap();
        let edits = [Edit::SetCallId { call: BlockIndex(1), id: "new".to_owned() }];
        let replaced = replace_ids(&wire, dialect, body.clone(), &edits).unwrap().unwrap();
        assert_eq!(replaced[0].as_str(), turn.replace(r#""id":"toolu_1""#, r#""id":"new""#));
        let absent = [Edit::SetCallId { call: BlockIndex(0), id: "new".to_owned() }];
        assert_eq!(replace_ids(&wire, dialect, body, &absent).unwrap(), None, "a text has no id");
    }

    #[test]
    fn many_ids_are_found_in_the_view_as_few_are() {
        let (id, state, wire, work) =
            ("s".parse().unwrap(), with_messages(), wire(), crate::session::facts::Work::default());
        let facts = Facts { id: &id, state: &state, wire: &wire, work: &work, next: 2, now: 0 };
        let body = wire.body("{}", std::iter::empty()).unwrap();
        let dialect = Subject::dialect(&body, &wire.options).unwrap();
        let transcript = Subject::transcript(dialect, &body, &wire.options).unwrap();
        let subject = Subject::of(dialect, &transcript, &wire.options).unwrap();
        for count in [1, SEARCHES_MAX + 1] {
            let names = Names::of(&facts, &subject, count);
            assert_eq!(
                ["toolu_1", "toolu_2", "oolu_1"].map(|id| names.is_in_view(id)),
                [true, false, false],
                "{count}"
            );
        }
    }

    fn with_messages() -> seamline_store::State {
        let message =
            Raw::parse(r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"}]}"#).unwrap();
        let record = seamline_store::MessageRecord::new(message, seamline_store::Origin::Said, None);
        let mut state = seamline_store::State::default();
        state.apply(1, 0, &Record::Message(record));
        state
    }
}
