//! The calls of a large cycle by their ids and tools.

use std::collections::HashMap;
use std::ops::Range;

use super::Key;
use crate::Tool;

/// The calls of the running cycle by id, and by id and tool. Built once the cycle is large and a result needs it.
#[derive(Default)]
pub(super) struct Queues<'t> {
    queues: HashMap<(Key<'t>, Option<Tool>), Queue>,
    /// How many of all calls were put into a queue so far.
    queued: usize,
}

/// The calls with one id, or with one id and tool.
#[derive(Default)]
struct Queue {
    calls: Vec<u32>,
    /// The first of `calls` that may not be answered.
    next: usize,
}

impl<'t> Queues<'t> {
    /// Forgets the calls of a cycle that is over.
    pub(super) fn clear(&mut self) {
        self.queues.clear();
    }

    /// Adds the calls of a range that are not in a queue yet.
    pub(super) fn fill(&mut self, range: Range<usize>, of: impl Fn(usize) -> (Key<'t>, Option<Tool>)) {
        for index in self.queued.max(range.start)..range.end {
            let (key, tool) = of(index);
            self.queues.entry((key, None)).or_default().calls.push(index as u32);
            if tool.is_some() {
                self.queues.entry((key, tool)).or_default().calls.push(index as u32);
            }
        }
        self.queued = range.end;
    }

    /// Whether several calls have this id.
    pub(super) fn is_shared(&self, key: Key<'t>) -> bool {
        self.queues.get(&(key, None)).is_some_and(|queue| queue.calls.len() > 1)
    }

    /// The next open call with this id, of this tool if there is one; the last call with the id when all are answered.
    pub(super) fn next(
        &mut self,
        key: Key<'t>,
        tool: Option<Tool>,
        is_answered: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let of_tool = tool.and_then(|_| self.queues.get_mut(&(key, tool))?.open(&is_answered));
        if of_tool.is_some() {
            return of_tool;
        }
        let queue = self.queues.get_mut(&(key, None))?;
        let last = queue.calls.last().map(|&index| index as usize);
        queue.open(&is_answered).or(last)
    }
}

impl Queue {
    /// The first call that is not answered.
    fn open(&mut self, is_answered: &impl Fn(usize) -> bool) -> Option<usize> {
        while self.calls.get(self.next).is_some_and(|&index| is_answered(index as usize)) {
            self.next += 1;
        }
        self.calls.get(self.next).map(|&index| index as usize)
    }
}
