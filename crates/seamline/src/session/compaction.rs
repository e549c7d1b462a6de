//! Replacing messages by a summary, and never half a cycle.

use std::ops::Range;

use seamline_store::{Compact, Hash, Operation, Record, Rejected};

use super::cuts::splits;
use super::{Session, SessionError};

/// A compaction that is going on.
#[derive(Debug)]
pub(super) struct Compaction {
    /// What may be replaced.
    range: Range<usize>,
    /// The hash of all messages up to its end.
    hash: Hash,
    /// How many messages there were.
    messages: usize,
}

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
    /// How many messages came meanwhile. They stand behind the summary and all that was not replaced.
    pub taken_in: usize,
}

impl Session {
    /// Says that messages are about to be replaced, and makes a checkpoint. Gives the range that may be replaced, which
    /// is the one that was asked for, made smaller so that it splits no cycle; one that lies inside of a cycle comes out
    /// empty, before the cycle. Messages that come meanwhile are kept at once, behind the others; calls are not run and the
    /// inbox is not taken in before the compaction has ended: by [`Session::finish_compaction`],
    /// [`Session::cancel_compaction`] or an error, be it one of these or one that [`Session::handle_error`] was told.
    ///
    /// # Errors
    /// When tools are running, a compaction is going on, the range is none of the messages, they cannot be read, or the
    /// store could not keep it.
    pub async fn begin_compaction(&mut self, range: Range<usize>) -> Result<Range<usize>, SessionError> {
        self.settle().await?;
        if !self.state.cycles.is_empty() {
            return Err(Rejected::InFlight.into());
        }
        if self.compaction.is_some() {
            return Err(SessionError::Refused("the session is being compacted already".to_owned()));
        }
        let whole = self.whole_cycles(range)?;
        self.checkpoint(Operation::Compaction).await?;
        let view = &self.state.view;
        let (hash, messages) = (view.hash_of(whole.end), view.len());
        self.broken_off = None;
        self.compaction = Some(Compaction { range: whole.clone(), hash, messages });
        Ok(whole)
    }

    /// Replaces messages by a summary.
    ///
    /// # Errors
    /// When the range is not the one that [`Session::begin_compaction`] gave, its messages have changed since, tools are
    /// running, a summary is no message, or the store could not keep it. The session is not being compacted any more
    /// even then, and messages that came meanwhile stay. Where the store failed, this may be called once more.
    pub async fn finish_compaction(
        &mut self,
        range: Range<usize>,
        summary: &[&str],
    ) -> Result<Compacted, SessionError> {
        let was_going_on = self.compaction.is_some() || self.broken_off.is_some();
        self.settled().await?;
        let Some(compaction) = self.compaction.as_ref().or(self.broken_off.as_ref()) else {
            let why = if was_going_on {
                "the compaction has ended: what was asked for before and not waited for was kept"
            } else {
                "no compaction was begun"
            };
            return Err(SessionError::Refused(why.to_owned()));
        };
        let taken_in = self.state.view.len().saturating_sub(compaction.messages);
        let compact = self.compact_record(compaction, &range, summary);
        let records = compact.as_ref().ok().cloned().into_iter().chain(self.compaction_over()).collect();
        self.end_compaction(records).await?;
        compact.map(|_| Compacted { replaced: range, taken_in })
    }

    async fn end_compaction(&mut self, records: Vec<Record>) -> Result<(), SessionError> {
        if records.is_empty() {
            (self.compaction, self.broken_off) = (None, None);
            return Ok(());
        }
        let ended = self.keep(records, true).await;
        if ended.is_err() {
            self.break_off_compaction();
        }
        ended
    }

    /// Finds out what became of what nobody waited for, as [`Session::settle`] does. A compaction does not go on where
    /// that cannot be found out.
    async fn settled(&mut self) -> Result<(), SessionError> {
        let settled = self.settle().await;
        if settled.is_err() {
            self.break_off_compaction();
        }
        settled
    }

    /// A compaction does not keep the session from anything after an error: what came meanwhile is there, calls may be
    /// run, and another one may be begun. It may still be finished, too, if its messages stand as they stood.
    pub(super) fn break_off_compaction(&mut self) {
        if let Some(compaction) = self.compaction.take() {
            self.broken_off = Some(compaction);
        }
    }

    fn compact_record(
        &self,
        begun: &Compaction,
        range: &Range<usize>,
        summary: &[&str],
    ) -> Result<Record, SessionError> {
        if *range != begun.range {
            let Range { start, end } = begun.range;
            let why = format!("the compaction was begun for the messages from {start} up to {end}, which stays");
            return Err(SessionError::Refused(why));
        }
        let view = &self.state.view;
        if view.len() < range.end || view.hash_of(range.end) != begun.hash {
            return Err(SessionError::Refused("the messages to be replaced have changed since".to_owned()));
        }
        let summary = self.messages_of(summary)?;
        if summary.is_empty() && range.len() == view.len() {
            return Err(SessionError::Refused(
                "without a summary nothing would be left of the conversation".to_owned(),
            ));
        }
        let compact = Record::Compact(Compact { from: range.start as u64, to: range.end as u64, meant: None, summary });
        self.state.allows(&compact)?;
        Ok(compact)
    }

    /// The records that commit what the compaction was begun with.
    fn compaction_over(&self) -> Vec<Record> {
        let checkpoint = self.state.latest_open().filter(|open| open.operation == Operation::Compaction);
        checkpoint.and_then(|open| self.commit_records(&open.id).ok()).unwrap_or_default()
    }

    /// Gives a compaction up: nothing is replaced. Says how many messages came meanwhile, which stay; none where no
    /// compaction was begun.
    ///
    /// # Errors
    /// When the store could not keep it. The session is not being compacted any more even then.
    pub async fn cancel_compaction(&mut self) -> Result<usize, SessionError> {
        self.settled().await?;
        let Some(compaction) = self.compaction.as_ref().or(self.broken_off.as_ref()) else { return Ok(0) };
        let taken_in = self.state.view.len().saturating_sub(compaction.messages);
        self.end_compaction(self.compaction_over()).await?;
        Ok(taken_in)
    }

    /// The largest part of a range that holds no call whose result is outside of it, and the other way round. Where it
    /// has none, because it lies inside of a cycle, nothing is to be replaced: it is empty, and stands before the cycle.
    fn whole_cycles(&self, range: Range<usize>) -> Result<Range<usize>, SessionError> {
        let messages = self.entries().len();
        if range.start > range.end || range.end > messages {
            return Err(Rejected::Place { place: range.end as u64, messages }.into());
        }
        let body = self.wire.body("{}", self.entries().iter().map(|entry| &entry.message))?;
        let splits = splits(&body, &self.wire.options)?;
        let is_whole = |at: &usize| !splits.get(*at).copied().unwrap_or(false);
        let Some(start) = (range.start..=range.end).find(is_whole) else {
            let before = (0..range.start).rev().find(is_whole).unwrap_or(0);
            return Ok(before..before);
        };
        let end = (start..=range.end).rev().find(is_whole).unwrap_or(start);
        Ok(start..end)
    }
}
