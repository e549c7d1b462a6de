//! Step 4 of the pairing: results that name another call than the one they answer.

use std::collections::HashSet;

use super::{Key, MatchedResult, ResultFate, Running, Walk};

impl<'t> Walk<'t, '_> {
    /// Step 4. Only for results whose id no earlier call has: a result that names another call is not misaddressed, it
    /// is late.
    pub(super) fn claim_misaddressed(&mut self) {
        let mut candidates = [std::mem::take(&mut self.early), std::mem::take(&mut self.nameless)].concat();
        candidates.sort_unstable();
        // If early results are not recognised, calls after them count as well.
        let called: HashSet<Key<'t>> = if self.scope.early {
            HashSet::new()
        } else {
            (0..self.pairing.calls.len()).map(|index| self.call_key(index)).collect()
        };
        for position in candidates {
            let position = position as usize;
            let key = self.result_key(position);
            let free = key.is_none() || !called.contains(&key);
            if self.pairing.results[position].fate != ResultFate::Orphan || !free {
                continue;
            }
            let Some((span, is_behind)) = self.span_of[position] else { continue };
            let Some(index) = self.only_open_call(span) else { continue };
            let proven = match self.names_agree(index, position) {
                Some(agree) if !agree => continue,
                agree => agree.is_some() || is_behind,
            };
            if proven || self.scope.unproven {
                self.readdress(index, position, proven);
            }
        }
    }

    /// The open call of a span, when there is exactly one. Where results without ids are paired by their order, another call
    /// must not have its id: a result that gets this id could answer the other one.
    fn only_open_call(&mut self, span: Running) -> Option<usize> {
        if self.counted.0 != Some(span) {
            let mut open = self.calls_of(span).filter(|&index| self.pairing.is_unanswered(&self.pairing.calls[index]));
            let only = open.next().filter(|_| open.next().is_none());
            let has_own_id = |call: usize| {
                let key = self.call_key(call);
                self.calls_of(span).filter(|&index| self.call_key(index) == key).nth(1).is_none()
            };
            self.counted = (Some(span), only.filter(|&call| !self.scope.by_tool || has_own_id(call)));
        }
        self.counted.1.filter(|&index| self.pairing.is_unanswered(&self.pairing.calls[index]))
    }

    /// Whether a call and a result name the same tool, if both name one.
    fn names_agree(&self, index: usize, position: usize) -> Option<bool> {
        let call = self.transcript.call(self.pairing.calls[index].call);
        let result = self.transcript.result(self.pairing.results[position].result);
        let (called, answered) = (call.and_then(|call| call.tool), result.and_then(|result| result.tool));
        Some(called? == answered?)
    }

    fn readdress(&mut self, index: usize, position: usize, proven: bool) {
        let result = self.pairing.results[position].result;
        let state = &mut self.pairing.calls[index];
        state.matched = Some(MatchedResult { result, misaddressed: true, proven });
        self.pairing.results[position].fate = ResultFate::Answers(state.call);
    }
}
