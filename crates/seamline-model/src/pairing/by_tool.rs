//! Pairs by the tool and the order where ids are optional and one of a call and its result has none. An id that is
//! missing does not contradict.

use std::collections::HashMap;

use super::{Key, Known, Name, ResultFate, SCAN_MAX, Walk};
use crate::{BlockIndex, Tool};

/// Why a result waits for the end of its span.
#[derive(Clone, Copy)]
pub(super) enum Waiting {
    /// It has no id; the name of its tool is in the place of one.
    Nameless(Tool),
    /// Several calls of the span have its id, so that its place among the other results that wait matters.
    Shared,
    /// No open call so far has its id. A call of its tool without an id may be meant.
    Unknown(Tool),
}

/// Calls of one tool in a span, in order.
#[derive(Default)]
struct Queue {
    calls: Vec<usize>,
    /// The first of `calls` that may have no result.
    next: usize,
    /// The first of `calls` that may have a synthetic result.
    replaceable: usize,
}

/// The calls of a span by their tools.
#[derive(Default)]
struct ByTool {
    all: HashMap<Tool, Queue>,
    nameless: HashMap<Tool, Queue>,
}

impl<'t> Walk<'t, '_> {
    /// The tool that stands for the id of a result: the result has no id, so the name of its tool is in its place.
    pub(super) fn nameless_tool(&self, block: BlockIndex) -> Option<Tool> {
        let result = self.transcript.result(block).filter(|_| self.scope.by_tool)?;
        let tool = result.tool?;
        let is_missing = result.id.as_ref().is_none_or(|id| self.is_name(id, tool));
        is_missing.then_some(tool)
    }

    /// The tool of a call without an id.
    fn nameless_call(&self, index: usize) -> Option<Tool> {
        let tool = self.call_tool(index)?;
        self.call_key(index).is_none_or(|id| self.is_name(id, tool)).then_some(tool)
    }

    fn is_name(&self, id: &str, tool: Tool) -> bool {
        id.is_empty() || self.transcript.name(Some(tool)) == Some(id)
    }

    /// Why a result cannot be paired before the end of its span, if it cannot.
    pub(super) fn waits(&mut self, key: Key<'t>, block: BlockIndex) -> Option<Waiting> {
        let span = self.current.filter(|_| self.scope.by_tool)?;
        if let Some(tool) = self.nameless_tool(block) {
            return Some(Waiting::Nameless(tool));
        }
        if !self.transcript.has.neighbouring_ids {
            return None;
        }
        let range = self.calls_of(span);
        let is_shared = if range.len() > SCAN_MAX {
            let mut queues = std::mem::take(&mut self.queues);
            queues.fill(range, |index| (self.call_key(index), self.call_tool(index)));
            let is_shared = queues.is_shared(key);
            self.queues = queues;
            is_shared
        } else {
            range.filter(|&index| self.call_key(index) == key).nth(1).is_some()
        };
        is_shared.then_some(Waiting::Shared)
    }

    /// Lets a result wait whose id no open call so far has, because a call without an id may be meant: the provider compares
    /// it with the calls of this span, not with an earlier one that is answered.
    pub(super) fn wait_if_unknown(&mut self, block: BlockIndex, position: u32) {
        let Some(span) = self.current.filter(|_| self.scope.by_tool) else { return };
        let is_of_span = |call| self.calls_of(span).any(|index| self.pairing.calls[index].call == call);
        let is_unknown = match self.pairing.results[position as usize].fate {
            ResultFate::Duplicate(call) => !is_of_span(call),
            _ => self.early.last() == Some(&position),
        };
        let tool = self.transcript.result(block).and_then(|result| result.tool).filter(|_| is_unknown);
        self.waiting.extend(tool.map(|tool| (position, Waiting::Unknown(tool))));
    }

    /// Step 1 for the results that wait, once the span has no more results that name one of its calls: in order, each
    /// answers the first call of its tool that is still open.
    pub(super) fn claim_waiting(&mut self) {
        let Some(span) = self.current.filter(|_| !self.waiting.is_empty()) else { return };
        let mut calls = ByTool::default();
        for index in self.calls_of(span) {
            if let Some(tool) = self.call_tool(index) {
                calls.all.entry(tool).or_default().calls.push(index);
            }
            if let Some(tool) = self.nameless_call(index) {
                calls.nameless.entry(tool).or_default().calls.push(index);
            }
        }
        for (position, why) in std::mem::take(&mut self.waiting) {
            let block = self.pairing.results[position as usize].result;
            let fate = match why {
                Waiting::Nameless(tool) => match calls.all.get_mut(&tool) {
                    Some(queue) => {
                        let index = self.next_of_tool(queue, block);
                        Some(self.answer_again(index, block))
                    }
                    None => Some(self.claim_by_id(block, position)),
                },
                Waiting::Shared => Some(self.claim_by_id(block, position)),
                Waiting::Unknown(tool) => {
                    let open = calls.nameless.get_mut(&tool).and_then(|queue| self.open_call(queue));
                    open.map(|index| self.answer(index, block))
                }
            };
            if let Some(fate) = fate {
                self.pairing.results[position as usize].fate = fate;
            }
        }
    }

    /// The first open call of a queue.
    fn open_call(&self, queue: &mut Queue) -> Option<usize> {
        while queue.calls.get(queue.next).is_some_and(|&index| self.pairing.calls[index].matched.is_some()) {
            queue.next += 1;
        }
        queue.calls.get(queue.next).copied()
    }

    /// The first open call of a queue; else the first with a synthetic result, which a real one replaces; else the last.
    fn next_of_tool(&self, queue: &mut Queue, block: BlockIndex) -> usize {
        if let Some(index) = self.open_call(queue) {
            return index;
        }
        let matched = |index: usize| self.pairing.calls[index].matched;
        let is_real = |index| matched(index).is_some_and(|matched| !self.is_made_up(matched.result));
        while queue.calls.get(queue.replaceable).is_some_and(|&index| is_real(index)) {
            queue.replaceable += 1;
        }
        let replaced = queue.calls.get(queue.replaceable).filter(|_| !self.is_made_up(block));
        replaced.or(queue.calls.last()).copied().unwrap_or_default()
    }

    /// Pairs a result by its id, or by the name in the place of one.
    fn claim_by_id(&mut self, block: BlockIndex, position: u32) -> ResultFate {
        let key = self.result_key(position as usize);
        self.claim_in_span(key, block).unwrap_or_else(|| self.claim_late(key, block, position))
    }

    /// The name under which a late result finds the calls that it may answer.
    pub(super) fn late_name(&self, key: Key<'t>, block: BlockIndex) -> Name<'t> {
        self.nameless_tool(block).map_or(Name::Id(key), Name::Tool)
    }
}

impl Known {
    /// Forgets calls at both ends that have got a result under another name.
    pub(super) fn forget_answered(&mut self, is_open: impl Fn(usize) -> bool) {
        while self.open.front().is_some_and(|&index| !is_open(index as usize)) {
            self.open.pop_front();
        }
        while self.open.back().is_some_and(|&index| !is_open(index as usize)) {
            self.open.pop_back();
        }
    }
}
