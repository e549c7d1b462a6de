//! Ids for calls that came without one.

use std::collections::HashSet;

use seamline_model::{BlockIndex, BlockKind, Edit, Pairing, Scope, Transcript};
use seamline_rules::Rewrite;
use seamline_store::Raw;

use super::Wire;
use crate::session::SessionError;
use crate::subject::Subject;

impl Wire {
    /// Gives ids to calls without one, where the dialect demands them: otherwise nothing says which call a result answers
    /// (CMP-6). A new id is derived from `place` and the call. Nothing else changes.
    pub(in crate::session) fn identify(&self, turn: Vec<Raw>, place: &str) -> Result<Vec<Raw>, SessionError> {
        let body = self.body("{}", turn.iter())?;
        let dialect = Subject::dialect(&body, &self.options)?;
        let transcript = Subject::transcript(dialect, &body, &self.options)?;
        let subject = Subject::of(dialect, &transcript, &self.options)?;
        let edits = id_edits(&transcript, &subject, place);
        if edits.is_empty() {
            return Ok(turn);
        }
        let encoded = subject.write(&transcript, &edits);
        let source = encoded.source(&body);
        let messages = encoded.spans.iter().map(|span| {
            let bytes = source.get(*span).unwrap_or_default();
            Raw::parse(String::from_utf8_lossy(bytes))
        });
        Ok(messages.collect::<Result<_, _>>()?)
    }
}

/// The edits that give ids to calls without one, and to the results that answer them.
fn id_edits(transcript: &Transcript<'_>, subject: &Subject, place: &str) -> Vec<Edit> {
    let demand = &subject.provider.constraints.call_id;
    let calls = || {
        let numbered = (0..).map(BlockIndex).zip(&transcript.blocks);
        numbered.filter_map(|(at, block)| {
            let BlockKind::Call(call) = &block.kind else { return None };
            Some((at, block, call.id.as_deref().unwrap_or_default()))
        })
    };
    if !demand.demanded || calls().all(|(_, _, id)| !id.trim().is_empty()) {
        return Vec::new();
    }
    let mut taken: HashSet<String> = calls().map(|(_, _, id)| id.to_owned()).collect();
    let pairing = Pairing::of(transcript, Scope::ALL.under(&subject.provider.constraints));
    let mut edits = Vec::new();
    for (call, block, _) in calls().filter(|(_, _, id)| id.trim().is_empty()) {
        let seed = format!("{place}/{}/{}", call.get(), transcript.text(block.span));
        let id = demand.made(&seed, |made| taken.contains(made));
        taken.insert(id.clone());
        if let Some(matched) = pairing.call(call).and_then(|state| state.matched) {
            edits.push(Edit::Readdress { result: matched.result, call, id: id.clone() });
        }
        edits.push(Edit::SetCallId { call, id });
    }
    edits
}
