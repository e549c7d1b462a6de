//! Replacing messages by a summary, and never half a cycle.

use std::collections::HashSet;
use std::ops::Range;

use seamline_store::{Compact, Operation, Raw, Record, Rejected};

use super::{Session, SessionError, said};

/// What a compaction did.
///
/// ```
/// let compacted = seamline::session::Compacted { replaced: 0..4, taken_in: 1 };
/// assert_eq!(compacted.replaced.len(), 4);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// The messages that the summary stands for now. They may be fewer than were asked for: a cycle is never split.
    pub replaced: Range<usize>,
    /// How many messages waited for it and are there now.
    pub taken_in: usize,
}

impl Session {
    /// Says that messages are about to be replaced: makes a checkpoint, and from now on messages wait. Gives the range
    /// that may be replaced, which is the one that was asked for, made smaller so that it splits no cycle.
    ///
    /// # Errors
    /// When tools are running, a compaction is going on, or the store could not keep it.
    pub async fn begin_compaction(&mut self, range: Range<usize>) -> Result<Range<usize>, SessionError> {
        self.settle().await?;
        if !self.state.cycles.is_empty() {
            return Err(Rejected::InFlight.into());
        }
        if self.waiting.is_some() {
            return Err(SessionError::Refused("the session is being compacted already".to_owned()));
        }
        let whole = self.whole_cycles(range)?;
        self.checkpoint(Operation::Compaction).await?;
        self.waiting = Some(Vec::new());
        Ok(whole)
    }

    /// Replaces messages by a summary, and takes in what waited, in order.
    ///
    /// # Errors
    /// When the range is not one that [`Session::begin_compaction`] gave, a summary is no JSON, or the store could not
    /// keep it. What waited is taken in even then, or goes on waiting where the store failed.
    pub async fn finish_compaction(
        &mut self,
        range: Range<usize>,
        summary: &[&str],
    ) -> Result<Compacted, SessionError> {
        let was_waiting = self.waiting.is_some();
        self.settle().await?;
        if was_waiting && self.waiting.is_none() {
            let why = "the compaction has ended: what was asked for before and not waited for was kept";
            return Err(SessionError::Refused(why.to_owned()));
        }
        let compact = self.compact_records(&range, summary);
        let records = compact.as_ref().map_or_else(|_| Vec::new(), Clone::clone);
        let taken_in = self.let_in(records).await?;
        compact.map(|_| Compacted { replaced: range, taken_in })
    }

    /// Keeps records and, behind them, what waited. What waits is let go only once it is kept: a store that fails loses
    /// none of it.
    async fn let_in(&mut self, mut records: Vec<Record>) -> Result<usize, SessionError> {
        let waiting = self.waiting.clone().unwrap_or_default();
        let taken_in = waiting.len();
        records.extend(waiting.into_iter().map(said));
        if records.is_empty() {
            self.waiting = None;
        } else {
            self.keep(records, true).await?;
        }
        Ok(taken_in)
    }

    fn compact_records(&self, range: &Range<usize>, summary: &[&str]) -> Result<Vec<Record>, SessionError> {
        if self.whole_cycles(range.clone())? != *range {
            return Err(SessionError::Refused("the range would split a cycle of calls and results".to_owned()));
        }
        let summary = summary.iter().map(|message| Raw::parse(*message)).collect::<Result<Vec<_>, _>>()?;
        let compact = Record::Compact(Compact { from: range.start as u64, to: range.end as u64, meant: None, summary });
        self.state.allows(&compact)?;
        let mut records = vec![compact];
        let checkpoint = self.state.latest_open().filter(|open| open.operation == Operation::Compaction);
        if let Some(checkpoint) = checkpoint {
            records.extend(self.commit_records(&checkpoint.id)?);
        }
        Ok(records)
    }

    /// Gives a compaction up: what waited is taken in, and nothing is replaced.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn cancel_compaction(&mut self) -> Result<usize, SessionError> {
        self.settle().await?;
        let checkpoint = self.state.latest_open().filter(|open| open.operation == Operation::Compaction);
        let records = match checkpoint {
            Some(checkpoint) => self.commit_records(&checkpoint.id.clone())?,
            None => Vec::new(),
        };
        self.let_in(records).await
    }

    /// The largest part of a range that holds no call whose result is outside of it, and the other way round.
    fn whole_cycles(&self, range: Range<usize>) -> Result<Range<usize>, SessionError> {
        let messages = self.entries().len();
        if range.start > range.end || range.end > messages {
            return Err(Rejected::Place { place: range.end as u64, messages }.into());
        }
        let body = self.wire.body("{}", self.entries().iter().map(|entry| &entry.message))?;
        let outline = crate::outline(&body, &self.wire.options, 0..messages)?;
        let ids = |kind: &'static str, at: usize| {
            let blocks = outline[at].blocks.iter().filter(move |block| block.kind == kind);
            blocks.filter_map(|block| block.id.clone())
        };
        // A cut before a message splits a cycle when a call before it has its result at or behind it.
        let mut splits = vec![false; messages + 1];
        let mut open: HashSet<String> = HashSet::new();
        for (at, split) in splits.iter_mut().enumerate().take(messages) {
            *split = !open.is_empty();
            for id in ids("result", at) {
                open.remove(&id);
            }
            open.extend(ids("call", at));
        }
        let start = (range.start..=range.end).find(|at| !splits[*at]).unwrap_or(range.end);
        let end = (start..=range.end).rev().find(|at| !splits[*at]).unwrap_or(start);
        Ok(start..end)
    }
}
