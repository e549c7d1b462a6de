//! Step 2 of the pairing, looking forward: results that came before their call.

use std::collections::{HashMap, HashSet};

use super::{Key, ResultFate, Walk};
use crate::Tool;

/// The first call of each id, and of each id and tool. A call that names no tool is under `None`.
#[derive(Default)]
struct FirstCalls<'t> {
    of_id: HashMap<Key<'t>, usize>,
    of_tool: HashMap<(Key<'t>, Option<Tool>), usize>,
}

impl FirstCalls<'_> {
    /// The first call with an id whose tool does not contradict. A call of another tool does not count: in one span,
    /// too, the name of the tool decides.
    fn find(&self, key: Key<'_>, tool: Option<Tool>) -> Option<usize> {
        if tool.is_none() {
            return self.of_id.get(&key).copied();
        }
        let of = |tool| self.of_tool.get(&(key, tool)).copied();
        of(tool).into_iter().chain(of(None)).min()
    }
}

impl<'t> Walk<'t, '_> {
    /// Lets results whose id no earlier call has answer the first call after them that has it.
    pub(super) fn claim_early(&mut self) {
        if self.early.is_empty() {
            return;
        }
        let first = self.first_calls();
        let mut claimed: HashSet<usize> = HashSet::new();
        for &position in &self.early.clone() {
            let position = position as usize;
            if self.pairing.results[position].fate != ResultFate::Orphan {
                continue;
            }
            let block = self.pairing.results[position].result;
            let tool = self.transcript.result(block).and_then(|result| result.tool);
            let Some(index) = first.find(self.result_key(position), tool) else { continue };
            // Further ones repeat the first, or replace it if it is synthetic.
            if self.pairing.calls[index].matched.is_none() || claimed.contains(&index) {
                claimed.insert(index);
                self.pairing.results[position].fate = self.answer_again(index, block);
            }
        }
    }

    fn first_calls(&self) -> FirstCalls<'t> {
        let mut first = FirstCalls::default();
        for index in (0..self.pairing.calls.len()).rev() {
            let key = self.call_key(index);
            first.of_id.insert(key, index);
            first.of_tool.insert((key, self.call_tool(index)), index);
        }
        first
    }
}
