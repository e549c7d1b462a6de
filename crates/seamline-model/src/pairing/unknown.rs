//! Calls and results whose other half is a block of unknown kind.

use std::collections::HashMap;

use super::{ResultFate, Walk};
use crate::{BlockIndex, FactKind, WireId};

impl<'t> Walk<'t, '_> {
    /// Lets blocks of unknown kind answer open calls before them, and own results after them, by their ids.
    pub(super) fn claim_unknown(&mut self) {
        let ids = self.unknown(FactKind::Unknown);
        let members = self.unknown(FactKind::UnknownMember);
        if ids.is_empty() && members.is_empty() {
            return;
        }
        for index in 0..self.pairing.calls.len() {
            let state = self.pairing.calls[index];
            // An unknown block without an id gives the name of its tool.
            let tool = self.scope.by_tool.then(|| self.transcript.name(self.call_tool(index))).flatten();
            let names = [self.call_key(index).map(WireId::as_str), tool];
            let mut blocks = names.into_iter().flatten().filter_map(|name| ids.get(name)?.last());
            if state.matched.is_none() && blocks.any(|&block| block > state.call) {
                self.pairing.unknown.push(state.call);
            }
        }
        let tools = if self.scope.by_tool { self.unknown(FactKind::UnknownTool) } else { HashMap::new() };
        for position in 0..self.pairing.results.len() {
            let Some(id) = self.result_key(position).map(WireId::as_str) else { continue };
            let is_nameless = self.nameless_tool(self.pairing.results[position].result).is_some();
            let of_tool = tools.get(id).filter(|_| is_nameless);
            let mut owners = [ids.get(id), members.get(id), of_tool].into_iter().flatten();
            if owners.any(|blocks| self.is_owned(position, blocks, is_nameless)) {
                self.pairing.results[position].fate = ResultFate::Unknown;
            }
        }
    }

    /// The unknown blocks with each id or tool, in order.
    fn unknown(&self, kind: FactKind) -> HashMap<&'t str, Vec<BlockIndex>> {
        let mut blocks: HashMap<&'t str, Vec<BlockIndex>> = HashMap::new();
        for fact in self.transcript.facts.iter().filter(|fact| fact.kind == kind) {
            blocks.entry(&*fact.id).or_default().push(fact.block);
        }
        blocks
    }

    /// Whether one of these blocks may be the call of a result that no known call takes. A second result of a known call
    /// belongs to an unknown one only if that comes after the first, or if only the tool tells which call it answers.
    fn is_owned(&self, position: usize, blocks: &[BlockIndex], is_nameless: bool) -> bool {
        let state = self.pairing.results[position];
        let after = match state.fate {
            ResultFate::Orphan | ResultFate::Ambiguous => None,
            ResultFate::Duplicate(_) if is_nameless => None,
            ResultFate::Duplicate(call) => {
                let Some(matched) = self.pairing.call(call).and_then(|state| state.matched) else { return false };
                Some(matched.result)
            }
            ResultFate::Answers(_) | ResultFate::Superseded(_) | ResultFate::Unknown => return false,
        };
        let first = blocks.partition_point(|&block| Some(block) <= after);
        blocks.get(first).is_some_and(|&block| block < state.result)
    }
}
