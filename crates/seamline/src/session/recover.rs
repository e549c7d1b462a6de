//! Recovery: closes the cycles that a crash or an abort left open, and takes in results that come late.
//!
//! `truth` says what is known of a call, `again` runs calls again, `texts` has what the model reads, and `late` finds where
//! a late result belongs.

mod again;
mod late;
pub(super) mod texts;
pub(super) mod truth;

use seamline_store::OpenCycle;

use super::cycle::close::Close;
use super::cycle::roll_back::{Compensation, Fate, UNANSWERED};
use super::cycle::run::{Undoer, roll_back, roll_back_and_undo, undo_calls};
use super::{CycleOutcome, Session, SessionError, StopCause, ToolExecutor, ToolOutput};
use again::{RunAgain, run_again};
use truth::unknown_count;

pub use late::ToolCallRef;
pub use truth::{Truth, Unresolved};

/// The numbers of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    /// The number of cycles that were closed.
    pub cycles: usize,
    /// The number of these that were rolled back: no call had started, or an unknown outcome is to be
    /// [forgotten](super::UnknownOutcome::Forget).
    pub rolled_back: usize,
    /// The number of calls that ran again.
    pub run_again: usize,
    /// The number of calls with an unknown outcome.
    pub unknown: usize,
}

/// The tools that a recovery has.
#[derive(Clone, Copy)]
enum Tools<'t> {
    /// The recovery has no tools: no call runs, and none is undone.
    Absent,
    /// The tools of an executor.
    Of(&'t dyn ToolExecutor),
}

impl Tools<'_> {
    /// Whether they can undo calls.
    fn compensation(self) -> Compensation {
        match self {
            Self::Absent => Compensation::Impossible,
            Self::Of(_) => Compensation::Follows,
        }
    }
}

impl Session {
    /// Lists the calls of open cycles, with what is known of each. After a crash these are the calls that
    /// [`Session::recover`] will close; while tools run, theirs.
    pub fn unresolved(&self) -> Vec<Unresolved> {
        truth::unresolved(&self.state)
    }

    /// Closes the cycles that a crash left open. Finished results are kept. The model reads of the other calls that they
    /// did not run, or that their outcome is unknown. A cycle without a started call is rolled back, and so is one
    /// with an unknown outcome that is to be [forgotten](super::UnknownOutcome::Forget).
    ///
    /// An incident lists the calls whose compensation a crash or a dropped future cut off: they may still be in effect.
    ///
    /// A second call does nothing. Call it before tools run: it closes their cycles as well. Messages that were appended
    /// since a turn was begun are after it and its results then.
    ///
    /// # Errors
    /// When a turn cannot be read, or the store failed. Cycles that were closed by then are closed; call it again for the
    /// others.
    pub async fn recover(&mut self) -> Result<Recovered, SessionError> {
        self.recover_cycles(Tools::Absent).await
    }

    /// As [`Session::recover`], with an executor: calls that may run again do, and the calls of a cycle that is rolled back
    /// are [undone](ToolExecutor::compensate) where that is possible.
    ///
    /// # Errors
    /// As for [`Session::recover`].
    pub async fn recover_with(&mut self, executor: &dyn ToolExecutor) -> Result<Recovered, SessionError> {
        self.recover_cycles(Tools::Of(executor)).await
    }

    async fn recover_cycles(&mut self, tools: Tools<'_>) -> Result<Recovered, SessionError> {
        self.settle().await?;
        let cut_off = self.facts().plan_cut_off_compensations();
        self.write(cut_off).await?;
        let mut recovered = Recovered::default();
        for cycle in self.state.cycles.clone() {
            self.recover_cycle(cycle, tools, &mut recovered).await?;
        }
        Ok(recovered)
    }

    /// Closes all open cycles after the host has stopped the tools: durable results are kept, and the other calls
    /// get a result that says what is known. Cycles that a crash left open are closed as [`Session::recover`] does. A
    /// second call does nothing. Gives the results of all these calls.
    ///
    /// # Errors
    /// When a turn cannot be read, or the store failed: call it again then.
    pub async fn abort(&mut self) -> Result<Vec<CycleOutcome>, SessionError> {
        self.settle().await?;
        let mut outcomes = Vec::new();
        if !self.wire.config().close_on_abort {
            return Ok(outcomes);
        }
        for cycle in self.state.cycles.clone() {
            // Another process began this cycle and is gone, so the host could not stop its tools.
            outcomes.extend(if cycle.seq <= self.log.opened_at() {
                self.recover_cycle(cycle, Tools::Absent, &mut Recovered::default()).await?
            } else {
                self.abort_cycle(&cycle).await?
            });
        }
        Ok(outcomes)
    }

    /// Takes in the result of a call that was given up: it replaces the synthetic result, or goes behind its call where
    /// there is none. Says whether it was needed: a real result stays. Where several calls have the id, the last one is
    /// meant, so a result that is delivered twice is taken in once. If calls have no ids of their own, the last one that
    /// was given up is meant. [`Session::undo_repair`] reverts it.
    ///
    /// # Errors
    /// When tools are running, the conversation cannot be read, or the store failed.
    pub async fn add_late_result(&mut self, call: &ToolCallRef<'_>, output: &ToolOutput) -> Result<bool, SessionError> {
        self.settle().await?;
        let Some(batch) = self.facts().plan_late_result(call, output)? else { return Ok(false) };
        self.write(batch).await?;
        self.work.context.repairs += 1;
        Ok(true)
    }

    /// Closes one cycle that the host has stopped, as the policy says.
    async fn abort_cycle(&mut self, cycle: &OpenCycle) -> Result<Vec<CycleOutcome>, SessionError> {
        match self.facts().fate_of(cycle) {
            Fate::Close => {
                let close = Close::Stopped { why: StopCause::Aborted, never_begun: &[] };
                return self.close_cycle(&cycle.id, close).await;
            }
            Fate::RollBack => roll_back(self, cycle, UNANSWERED).await?,
            Fate::Stay => {}
        }
        Ok(Vec::new())
    }

    /// Closes one cycle, and gives the results of its calls, unless it was rolled back.
    async fn recover_cycle(
        &mut self,
        cycle: OpenCycle,
        tools: Tools<'_>,
        recovered: &mut Recovered,
    ) -> Result<Vec<CycleOutcome>, SessionError> {
        // Tools need the turn, and so does a result. Nothing else does, so that a turn that cannot be read hinders nothing
        // else.
        let turn = match tools {
            Tools::Absent => None,
            Tools::Of(executor) => Some((executor, self.wire.read_open(&cycle)?)),
        };
        let undoer = turn.as_ref().map(|(executor, turn)| Undoer { executor: *executor, turn });
        if let Some(batch) = self.facts().plan_forget(&cycle, tools.compensation()) {
            recovered.cycles += 1;
            recovered.rolled_back += 1;
            self.write(batch).await?;
            if let Some(undoer) = undoer {
                undo_calls(self, &cycle, undoer).await?;
            }
            return Ok(Vec::new());
        }
        if let Some(Undoer { executor, turn }) = undoer {
            match run_again(self, &cycle, turn, executor).await? {
                RunAgain::Done(count) => recovered.run_again += count,
                RunAgain::Failed(failed) => {
                    recovered.cycles += 1;
                    recovered.rolled_back += 1;
                    let open = self.facts().open_cycle(&cycle.id)?.clone();
                    roll_back_and_undo(self, &open, failed.reason, Undoer { executor, turn }).await?;
                    return Ok(Vec::new());
                }
            }
        }
        let open = self.facts().open_cycle(&cycle.id)?.clone();
        match self.facts().fate_of(&open) {
            Fate::Close => {
                recovered.cycles += 1;
                recovered.unknown += unknown_count(&open);
                return match undoer {
                    Some(Undoer { turn, .. }) => self.close_read_cycle(&cycle.id, turn, Close::Crashed).await,
                    None => self.close_cycle(&cycle.id, Close::Crashed).await,
                };
            }
            Fate::RollBack => {
                recovered.cycles += 1;
                recovered.rolled_back += 1;
                match undoer {
                    Some(undoer) => drop(roll_back_and_undo(self, &open, UNANSWERED, undoer).await?),
                    None => roll_back(self, &open, UNANSWERED).await?,
                }
            }
            Fate::Stay => {}
        }
        Ok(Vec::new())
    }
}
