//! Results that name a call by the id that a request gave it.
//!
//! After a switch, requests give calls ids in the form of the new provider. The host reads these ids in the request and
//! answers under them. The log keeps the stored id of the call, so that the result belongs to it for every provider.

use std::collections::{HashMap, HashSet};

use seamline_model::{BlockKind, Edit, Transcript};
use seamline_store::{Entry, Raw};

use super::SessionError;
use super::facts::Facts;
use super::recorded::{ids, with_ids};
use super::request::Request;
use super::wire::Wire;
use crate::outline::{OutlineKind, OutlineMessage};

impl Facts<'_> {
    /// Gives results that name a call by its id in a request the stored id of that call. Nothing else changes.
    pub(in crate::session) fn readdress(&self, wire: &Wire, messages: Vec<Raw>) -> Result<Vec<Raw>, SessionError> {
        if self.state.switch.is_none() || !self.config().enabled || messages.is_empty() {
            return Ok(messages);
        }
        let outline = wire.outline(&messages.iter().collect::<Vec<_>>())?;
        let stored = wire.outline_each(&self.entries().iter().collect::<Vec<_>>())?;
        let known: HashSet<&str> = calls(&stored).chain(calls(&outline)).filter_map(|call| call.id).collect();
        let is_unknown = |id: &&str| !known.contains(id);
        if !results(&outline).any(|id| is_unknown(&id)) {
            return Ok(messages);
        }
        let names = stored_ids(wire, self.entries(), &stored)?;
        let written = with_ids(wire, &messages, |transcript, _| id_edits(transcript, &names, &known))?;
        Ok(written.unwrap_or(messages))
    }
}

/// A call of an outline.
struct OutlineCall<'o> {
    id: Option<&'o str>,
    name: Option<&'o str>,
}

fn calls(outline: &[OutlineMessage]) -> impl Iterator<Item = OutlineCall<'_>> {
    let blocks = outline.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter(|block| block.kind == OutlineKind::Call);
    calls.map(|call| OutlineCall { id: call.id.as_deref(), name: call.name.as_deref() })
}

fn results(outline: &[OutlineMessage]) -> impl Iterator<Item = &str> {
    let blocks = outline.iter().flat_map(|message| &message.blocks);
    blocks.filter(|block| block.kind == OutlineKind::Result).filter_map(|result| result.id.as_deref())
}

/// The stored ids of calls, by their ids in the request for the current provider. A repair that adds or removes a call
/// makes the two orders differ; then nothing is known.
fn stored_ids(
    wire: &Wire,
    entries: &[Entry],
    stored: &[OutlineMessage],
) -> Result<HashMap<String, String>, SessionError> {
    let request = Request::of_entries(wire, entries, "{}")?;
    let sent = crate::outline(&request.body, &wire.options, 0..usize::MAX)?;
    if calls(&sent).count() != calls(stored).count() {
        return Ok(HashMap::new());
    }
    let same_tool = |(sent, stored): &(OutlineCall<'_>, OutlineCall<'_>)| sent.name == stored.name;
    let pairs = calls(&sent).zip(calls(stored)).filter(same_tool);
    let ids = pairs.filter_map(|(sent, stored)| Some((sent.id?.to_owned(), stored.id?.to_owned())));
    Ok(ids.collect())
}

/// The edits that give results the stored ids of their calls.
fn id_edits(transcript: &Transcript<'_>, names: &HashMap<String, String>, known: &HashSet<&str>) -> Vec<Edit> {
    let ids = ids(transcript)
        .into_iter()
        .filter(|(at, id)| matches!(transcript.block(*at).kind, BlockKind::Result(_)) && !known.contains(id));
    ids.filter_map(|(at, id)| Some(Edit::SetCallId { call: at, id: names.get(id)?.clone() })).collect()
}
