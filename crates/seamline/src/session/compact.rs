//! Compaction: a summary replaces messages, and never half a cycle.

mod plan;

use std::ops::Range;

use seamline_store::Operation;

use super::facts::{Batch, CompactionFate};
use super::{Refusal, Session, SessionError};

pub(super) use plan::Compaction;

/// The outcome of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// The range that the summary replaces. It may be smaller than the caller asked for: a cycle is never split.
    pub replaced: Range<usize>,
    /// The number of messages that came meanwhile. They are after the summary and all messages that stayed.
    pub taken_in: usize,
}

impl Session {
    /// Begins a compaction: makes a checkpoint, and gives the range to replace. It is the range that the caller asked for,
    /// made smaller so that it splits no cycle; a range inside a cycle becomes empty, before the cycle. Messages that come
    /// meanwhile are kept behind the others. Calls are not run and the inbox is not taken in before the compaction has
    /// ended: by [`Session::finish_compaction`], [`Session::cancel_compaction`] or an error, be it of one of these or one
    /// that is given to [`Session::handle_error`].
    ///
    /// # Errors
    /// When tools are running, a compaction is going on, the range is not one of the messages, they cannot be read, or the
    /// store failed.
    pub async fn before_compaction(&mut self, range: Range<usize>) -> Result<Range<usize>, SessionError> {
        self.settle().await?;
        let range = self.facts().plan_compaction_range(range)?;
        self.create_checkpoint(Operation::Compaction).await?;
        self.work.interrupted = None;
        self.work.compaction = Some(Compaction::new(&self.state.view, range.clone()));
        Ok(range)
    }

    /// Finishes a compaction: the summary replaces the range.
    ///
    /// # Errors
    /// When the range is not the one that [`Session::before_compaction`] gave, its messages have changed since, tools are
    /// running, a summary is not a message, or the store failed. The compaction is over even then, and messages that came
    /// meanwhile stay. Where the store failed, call this once more.
    pub async fn finish_compaction(
        &mut self,
        range: Range<usize>,
        summary: &[&str],
    ) -> Result<Compacted, SessionError> {
        let was_going_on = self.facts().current_compaction().is_some();
        self.settle_compaction().await?;
        let finish = self.facts().plan_finish(range, summary);
        let over = if was_going_on { Refusal::CompactionOver } else { Refusal::NoCompaction };
        let (batch, compacted) = finish.ok_or(over)?;
        self.end_compaction(batch).await?;
        compacted
    }

    /// Cancels a compaction: nothing is replaced. Gives the number of messages that came meanwhile, which stay; 0 where no
    /// compaction was begun.
    ///
    /// # Errors
    /// When the store failed. The compaction is over even then.
    pub async fn cancel_compaction(&mut self) -> Result<usize, SessionError> {
        self.settle_compaction().await?;
        let Some((batch, taken_in)) = self.facts().plan_cancel() else { return Ok(0) };
        self.end_compaction(batch).await?;
        Ok(taken_in)
    }

    async fn end_compaction(&mut self, batch: Batch) -> Result<(), SessionError> {
        if batch.records.is_empty() {
            (self.work.compaction, self.work.interrupted) = (None, None);
            return Ok(());
        }
        let ended = self.write(batch.with_compaction(CompactionFate::Ends)).await;
        if ended.is_err() {
            self.interrupt_compaction();
        }
        ended
    }

    /// Settles earlier writes, as [`Session::settle`] does. A compaction does not go on where that fails.
    async fn settle_compaction(&mut self) -> Result<(), SessionError> {
        let settled = self.settle().await;
        if settled.is_err() {
            self.interrupt_compaction();
        }
        settled
    }

    /// Interrupts a compaction after an error, so that it blocks nothing: calls run, and another one may begin. The host
    /// may still finish it, if its messages are unchanged.
    pub(super) fn interrupt_compaction(&mut self) {
        if let Some(compaction) = self.work.compaction.take() {
            self.work.interrupted = Some(compaction);
        }
    }
}
