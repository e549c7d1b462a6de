//! Results that name their call by another form of its id. A client that keeps ids of its own (`hist_tool_1`) may store a
//! result under the id that the provider saw (`call_1`, `toolu_1`), or the other way around.

use std::collections::HashMap;

use super::{ResultFate, Walk};
use crate::{IdForm, PairedCall, Scope};

impl<'t> Walk<'t, '_> {
    /// Lets orphans answer open calls whose id is another form of theirs. A call before the result comes first; if
    /// several could be meant, the one in the span of the result is.
    pub(super) fn claim_renamed(&mut self) {
        let orphans: Vec<usize> = (0..self.pairing.results.len())
            .filter(|&at| self.pairing.results[at].fate == ResultFate::Orphan && self.result_key(at).is_some())
            .collect();
        if orphans.is_empty() {
            return;
        }
        let mut calls: HashMap<&'t str, Vec<usize>> = HashMap::new();
        for index in 0..self.pairing.calls.len() {
            if let Some(name) = self.call_key(index).and_then(|id| bare(id, self.scope)) {
                calls.entry(name).or_default().push(index);
            }
        }
        for position in orphans {
            let named = self.result_key(position).and_then(|id| bare(id, self.scope));
            let Some(candidates) = named.and_then(|name| calls.get(name)) else { continue };
            if let Some(index) = self.renamed_call(candidates, position) {
                self.answer_renamed(index, position);
            }
        }
    }

    /// The only call that a result can mean by another form of its id.
    fn renamed_call(&self, candidates: &[usize], position: usize) -> Option<usize> {
        let result = self.pairing.results[position].result;
        let span = self.span_of[position].map(|(span, _)| self.calls_of(span));
        let is_open = |&&index: &&usize| self.is_open(index) && self.differs(index, position);
        let near = candidates.iter().filter(|&index| span.as_ref().is_some_and(|span| span.contains(index)));
        let call = |index: usize| self.pairing.calls[index].call;
        let before = candidates.iter().filter(|&&index| self.scope.late && call(index) < result);
        let mut after = candidates.iter().filter(|&&index| self.scope.early && call(index) > result);
        only(near.filter(is_open)).or_else(|| only(before.filter(is_open))).or_else(|| after.find(is_open)).copied()
    }

    /// Whether a call and a result have two forms of one id, one of them a client's own.
    fn differs(&self, index: usize, position: usize) -> bool {
        let is_internal = |id: &str| id.starts_with(IdForm::INTERNAL);
        let (call, result) = (self.call_key(index), self.result_key(position));
        call.zip(result).is_some_and(|(call, result)| is_internal(call) != is_internal(result))
    }

    fn answer_renamed(&mut self, index: usize, position: usize) {
        let result = self.pairing.results[position].result;
        let fate = self.answer_again(index, result);
        self.pairing.results[position].fate = fate;
        if let PairedCall { matched: Some(matched), .. } = &mut self.pairing.calls[index]
            && matched.result == result
        {
            matched.misaddressed = true;
        }
    }
}

/// The part of an id that all its forms share.
fn bare(id: &str, scope: Scope) -> Option<&str> {
    let mut prefixes = std::iter::once(&IdForm::INTERNAL).chain(scope.prefixes.iter().copied().flatten());
    prefixes.find_map(|prefix| id.strip_prefix(prefix)).filter(|name| !name.is_empty())
}

/// The element of an iterator that has exactly one.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}
