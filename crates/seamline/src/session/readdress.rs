//! Results that name a call by the id that a request gave it.
//!
//! After a switch, requests give calls ids in the form of the new provider. The host reads these ids in the request and
//! answers under them. The log keeps the stored id of the call, so that the result belongs to it for every provider.

use std::collections::{HashMap, HashSet};

use seamline_model::{BlockKind, Edit, Transcript};
use seamline_store::{Entry, EntryId, Raw};

use super::SessionError;
use super::recorded::{ids, with_ids};
use super::request::Request;
use super::wire::Wire;
use crate::Options;
use crate::outline::{OutlineKind, OutlineMessage};

/// The stored ids of calls that results name by other ids: by the ids that the calls have in a request.
#[derive(Debug, Default)]
pub(in crate::session) struct StoredIds(HashMap<String, String>);

/// Gives results that name a call by its id in a request the stored id of that call. Nothing else changes.
pub(in crate::session) fn readdress(
    wire: &Wire,
    messages: Vec<Raw>,
    StoredIds(stored): &StoredIds,
) -> Result<Vec<Raw>, SessionError> {
    if stored.is_empty() {
        return Ok(messages);
    }
    let written = with_ids(wire, &messages, |transcript, _| id_edits(transcript, stored))?;
    Ok(written.unwrap_or(messages))
}

/// The calls of the view, and their ids in requests. A session keeps them, so that many late results read each message
/// once.
#[derive(Debug, Default)]
pub(in crate::session) struct Addresses {
    /// The provider and the policy of the requests.
    options: Option<Options>,
    /// The messages of the view, each with its calls.
    read: Vec<(EntryId, Vec<StoredCall>)>,
    /// How many calls have each id.
    counts: HashMap<String, usize>,
    /// The stored ids by the ids in a request, since a result needed them.
    names: Option<HashMap<String, String>>,
}

#[derive(Debug)]
struct StoredCall {
    id: Option<String>,
    name: Option<String>,
}

impl Addresses {
    /// Finds the stored ids of the calls that results in these messages name by their ids in a request.
    pub(in crate::session) fn find(
        &mut self,
        wire: &Wire,
        entries: &[Entry],
        messages: &[Raw],
    ) -> Result<StoredIds, SessionError> {
        let outline = wire.outline(&messages.iter().collect::<Vec<_>>())?;
        let own: HashSet<String> = calls(&outline).filter_map(|call| call.id).collect();
        let named: HashSet<&str> = results(&outline).filter(|id| !own.contains(*id)).collect();
        if named.is_empty() {
            return Ok(StoredIds::default());
        }
        self.update(wire, entries)?;
        let unknown: Vec<&str> = named.into_iter().filter(|id| !self.is_stored(id)).collect();
        if unknown.is_empty() {
            return Ok(StoredIds::default());
        }
        let names = self.stored_ids(wire, entries)?;
        let found = unknown.into_iter().filter_map(|id| Some((id.to_owned(), names.get(id)?.clone())));
        Ok(StoredIds(found.collect()))
    }

    /// Reads the messages that are new since the last time.
    fn update(&mut self, wire: &Wire, entries: &[Entry]) -> Result<(), SessionError> {
        if self.options.as_ref() != Some(&wire.options) {
            *self = Self { options: Some(wire.options.clone()), ..Self::default() };
        }
        let is_same = |((id, _), entry): &(&(EntryId, Vec<StoredCall>), &Entry)| *id == entry.id();
        let front = self.read.iter().zip(entries).take_while(is_same).count();
        let rest = (&self.read[front..], &entries[front..]);
        let back = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(is_same).count();
        let (gone, new) = (front..self.read.len() - back, &entries[front..entries.len() - back]);
        let outline = wire.outline_each(&new.iter().collect::<Vec<_>>())?;
        let mut read: Vec<_> = new.iter().map(|entry| (entry.id(), Vec::new())).collect();
        for message in &outline {
            if let Some((_, of_entry)) = read.get_mut(message.index) {
                of_entry.extend(calls(std::slice::from_ref(message)));
            }
        }
        let new_ids: Vec<_> = read.iter().flat_map(|(_, calls)| calls).map(|call| call.id.clone()).collect();
        let old: Vec<_> = self.read.splice(gone, read).flat_map(|(_, calls)| calls).map(|call| call.id).collect();
        if old != new_ids {
            self.names = None;
        }
        for id in old.iter().flatten() {
            self.counts.entry(id.clone()).and_modify(|count| *count = count.saturating_sub(1));
        }
        for id in new_ids.into_iter().flatten() {
            *self.counts.entry(id).or_default() += 1;
        }
        Ok(())
    }

    /// Whether a stored call has this id.
    fn is_stored(&self, id: &str) -> bool {
        self.counts.get(id).is_some_and(|&count| count > 0)
    }

    /// The stored ids of calls, by their ids in the request for the current provider.
    fn stored_ids(&mut self, wire: &Wire, entries: &[Entry]) -> Result<&HashMap<String, String>, SessionError> {
        let names = match self.names.take() {
            Some(names) => names,
            None => self.pair_with_request(wire, entries)?,
        };
        Ok(self.names.insert(names))
    }

    /// Pairs the stored calls with those of a request by their order. A repair that adds or removes a call makes the two
    /// orders differ; then nothing is known.
    fn pair_with_request(&self, wire: &Wire, entries: &[Entry]) -> Result<HashMap<String, String>, SessionError> {
        let request = Request::of_entries(wire, entries, "{}")?;
        let sent = crate::outline(&request.body, &wire.options, 0..usize::MAX)?;
        let stored = || self.read.iter().flat_map(|(_, calls)| calls);
        if calls(&sent).count() != stored().count() {
            return Ok(HashMap::new());
        }
        let pairs = calls(&sent).zip(stored()).filter(|(sent, stored)| sent.name == stored.name);
        Ok(pairs.filter_map(|(sent, stored)| Some((sent.id?, stored.id.clone()?))).collect())
    }
}

fn calls(outline: &[OutlineMessage]) -> impl Iterator<Item = StoredCall> {
    let blocks = outline.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter(|block| block.kind == OutlineKind::Call);
    calls.map(|call| StoredCall { id: call.id.clone(), name: call.name.clone() })
}

fn results(outline: &[OutlineMessage]) -> impl Iterator<Item = &str> {
    let blocks = outline.iter().flat_map(|message| &message.blocks);
    blocks.filter(|block| block.kind == OutlineKind::Result).filter_map(|result| result.id.as_deref())
}

/// The edits that give results the stored ids of their calls.
fn id_edits(transcript: &Transcript<'_>, stored: &HashMap<String, String>) -> Vec<Edit> {
    let ids = ids(transcript).into_iter();
    let ids = ids.filter(|(at, _)| matches!(transcript.block(*at).kind, BlockKind::Result(_)));
    ids.filter_map(|(at, id)| Some(Edit::SetCallId { call: at, id: stored.get(id)?.clone() })).collect()
}
