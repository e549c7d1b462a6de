//! Plans compactions.

use std::ops::Range;

use seamline_store::{Compact, Hash, Operation, Record, Rejected, View};

use super::Compacted;
use crate::session::facts::{Batch, Facts};
use crate::session::{Refusal, SessionError};

/// A compaction that is going on.
#[derive(Debug)]
pub(in crate::session) struct Compaction {
    /// The range to replace.
    range: Range<usize>,
    /// The hash of all messages up to its end.
    hash: Hash,
    /// The number of messages when it was begun.
    messages: usize,
}

impl Compaction {
    pub(super) fn new(view: &View, range: Range<usize>) -> Self {
        Self { hash: view.hash_of(range.end), messages: view.len(), range }
    }

    /// The number of messages that came since it was begun.
    fn messages_since(&self, view: &View) -> usize {
        view.len().saturating_sub(self.messages)
    }
}

impl<'s> Facts<'s> {
    /// The compaction that is going on, or one that an error interrupted.
    pub(super) fn current_compaction(&self) -> Option<&'s Compaction> {
        self.work.compaction.as_ref().or(self.work.interrupted.as_ref())
    }

    /// Plans the largest part of a range that splits no cycle. Where it lies inside a cycle, the plan is an empty range
    /// before the cycle.
    pub(super) fn plan_compaction_range(&self, range: Range<usize>) -> Result<Range<usize>, SessionError> {
        self.require_no_open_cycle()?;
        if self.work.compaction.is_some() {
            return Err(Refusal::AlreadyCompacting.into());
        }
        let messages = self.entries().len();
        if range.start > range.end || range.end > messages {
            return Err(Rejected::Place { place: range.end as u64, messages }.into());
        }
        let splits = self.wire.splits(&self.entries().iter().collect::<Vec<_>>())?;
        let is_whole = |at: &usize| !splits.get(*at).copied().unwrap_or(false);
        let Some(start) = (range.start..=range.end).find(is_whole) else {
            let before = (0..range.start).rev().find(is_whole).unwrap_or(0);
            return Ok(before..before);
        };
        let end = (start..=range.end).rev().find(is_whole).unwrap_or(start);
        Ok(start..end)
    }

    /// Plans the end of the current compaction: with the summary, or without it where it does not fit. None where there is
    /// no compaction.
    pub(super) fn plan_finish(
        &self,
        range: Range<usize>,
        summary: &[&str],
    ) -> Option<(Batch, Result<Compacted, SessionError>)> {
        let begun = self.current_compaction()?;
        let (mut batch, taken_in) = self.plan_cancel()?;
        let compact = self.plan_compact(begun, &range, summary);
        let compacted = compact.map(|compact| {
            batch.records.insert(0, compact);
            Compacted { replaced: range, taken_in }
        });
        Some((batch, compacted))
    }

    /// Plans the end of the current compaction without a summary, and gives the number of messages that came meanwhile.
    pub(super) fn plan_cancel(&self) -> Option<(Batch, usize)> {
        let taken_in = self.current_compaction()?.messages_since(&self.state.view);
        let checkpoint = self.state.latest_open().filter(|open| open.operation == Operation::Compaction);
        let commit = checkpoint.and_then(|open| self.plan_commit(&open.id).ok()).unwrap_or_default();
        Some((Batch::of(commit), taken_in))
    }

    /// Plans the record of a compaction.
    fn plan_compact(&self, begun: &Compaction, range: &Range<usize>, summary: &[&str]) -> Result<Record, SessionError> {
        if *range != begun.range {
            let Range { start, end } = begun.range;
            return Err(Refusal::OtherRange { start, end }.into());
        }
        let view = &self.state.view;
        if view.len() < range.end || view.hash_of(range.end) != begun.hash {
            return Err(Refusal::RangeChanged.into());
        }
        let summary = self.wire.parse_messages(summary)?;
        if summary.is_empty() && range.len() == view.len() {
            return Err(Refusal::NothingLeft.into());
        }
        let (from, to, dialect) = (range.start as u64, range.end as u64, self.wire.mark());
        let compact = Record::Compact(Compact { from, to, meant: None, summary, dialect });
        self.state.allows(&compact)?;
        Ok(compact)
    }
}
