//! Calls and results whose other half is a block of unknown kind.

use std::collections::HashMap;

use super::{ResultFate, Walk};
use crate::{BlockIndex, FactKind};

impl<'t> Walk<'t, '_> {
    /// Lets blocks of unknown kind answer open calls before them, and own results after them, by their ids.
    pub(super) fn claim_unknown(&mut self) {
        let ids = self.unknown_ids();
        if ids.is_empty() {
            return;
        }
        for index in 0..self.pairing.calls.len() {
            let Some(blocks) = self.call_key(index).and_then(|id| ids.get(id.as_str())) else { continue };
            let state = self.pairing.calls[index];
            if state.answer.is_none() && blocks.last().is_some_and(|&block| block > state.call) {
                self.pairing.unknown.push(state.call);
            }
        }
        for position in 0..self.pairing.results.len() {
            let Some(blocks) = self.result_key(position).and_then(|id| ids.get(id.as_str())) else { continue };
            if self.is_owned(position, blocks) {
                self.pairing.results[position].fate = ResultFate::Unknown;
            }
        }
    }

    /// The unknown blocks with each id, in order.
    fn unknown_ids(&self) -> HashMap<&'t str, Vec<BlockIndex>> {
        let mut ids: HashMap<&'t str, Vec<BlockIndex>> = HashMap::new();
        for fact in self.transcript.facts.iter().filter(|fact| fact.kind == FactKind::Unknown) {
            ids.entry(&*fact.id).or_default().push(fact.block);
        }
        ids
    }

    /// Whether one of these blocks may be the call of a result that no known call takes. A second result of a known call
    /// belongs to an unknown one only if that comes after the first.
    fn is_owned(&self, position: usize, blocks: &[BlockIndex]) -> bool {
        let state = self.pairing.results[position];
        let after = match state.fate {
            ResultFate::Orphan | ResultFate::Ambiguous => None,
            ResultFate::Duplicate(call) => {
                let Some(answer) = self.pairing.call(call).and_then(|state| state.answer) else { return false };
                Some(answer.result)
            }
            ResultFate::Answers(_) | ResultFate::Superseded(_) | ResultFate::Unknown => return false,
        };
        let first = blocks.partition_point(|&block| Some(block) <= after);
        blocks.get(first).is_some_and(|&block| block < state.result)
    }
}
