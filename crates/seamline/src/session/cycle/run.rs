//! The runner of a cycle: the one way to run the calls of a turn.
//!
//! It runs the calls, keeps each result, and commits, stops or rolls back the cycle. With integrity switched off it is
//! the same runner; only [`Keeping`] differs.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::future::FutureExt;
use seamline_store::{CompensationOutcome, Effect, OpenCall, OpenCycle, Record};

use super::begin::{Intents, NewTurn};
use super::call::{CallFailure, Failed, Planned, TooLarge, apply_result, must_not_run, returned};
use super::close::{Close, Keeping, reset_never_begun};
use super::race::{Race, Step};
use super::roll_back::{Compensation, Fate, UNANSWERED, is_compensatable};
use super::{CycleOutcome, StopCause, ToolCycleResult, ToolExecutor, ToolOutput, random};
use crate::session::facts::Batch;
use crate::session::wire::ToolTurn;
use crate::session::{Session, SessionError, ToolCall};

/// A cycle that runs.
pub(super) struct Run<'r> {
    session: &'r mut Session,
    executor: &'r dyn ToolExecutor,
    /// The cycle, with the results that are there.
    open: OpenCycle,
    turn: ToolTurn,
    keeping: Keeping,
}

/// How the calls of a run ended.
pub(super) enum End {
    /// Every call has its result. The last one is not durable yet.
    Complete(Option<Record>),
    /// The host stopped the calls. These did not begin.
    Stopped(StopCause, Vec<ToolCall>),
    /// A failure rolls the cycle back. These calls did not begin.
    Failed(Failed, Vec<ToolCall>),
}

impl<'r> Run<'r> {
    /// Begins a run: with a durable cycle, or with integrity switched off with one that only this run knows. Gives the
    /// calls to run.
    pub(super) async fn begin(
        session: &'r mut Session,
        turn: NewTurn<'_>,
        executor: &'r dyn ToolExecutor,
    ) -> Result<(Self, Vec<ToolCall>), SessionError> {
        session.settle().await?;
        let facts = session.facts();
        let turn = facts.read_new_turn(turn)?;
        let mut calls: Vec<ToolCall> = turn.runnable().cloned().collect();
        let (open, keeping) = if facts.config().enabled {
            let effect = |call: &ToolCall| effect_of(executor, call);
            let (batch, cycle) = facts.plan_begin(&turn, &effect, Intents::WithTurn, random())?;
            session.write(batch).await?;
            let facts = session.facts();
            for call in &mut calls {
                call.key = Some(facts.key(&cycle, &call.id));
            }
            (facts.open_cycle(&cycle)?.clone(), Keeping::Cycle)
        } else {
            (facts.plain_cycle(&turn), Keeping::Messages)
        };
        Ok((Self { session, executor, open, turn, keeping }, calls))
    }

    /// Runs calls and keeps each result as it comes. Nothing runs any more when this returns.
    pub(super) async fn run(
        &mut self,
        calls: &[ToolCall],
        stop: impl Future<Output = StopCause> + Send,
    ) -> Result<End, SessionError> {
        let stop = pin!(stop);
        let mut race = Race::new(self.executor, calls, stop);
        let mut left = calls.len();
        let mut last = None;
        while left > 0 {
            let (stopped, done) = match race.next().await {
                Step::Done(ran) => (None, vec![ran]),
                Step::Stopped(why, done) => (Some(why), done),
                Step::Over => break,
            };
            let mut failure = None;
            for (call, outcome) in done {
                left -= 1;
                let facts = self.session.facts();
                let staged = match facts.plan_outcome(&self.open, &call.id, outcome, TooLarge::KeepStart)? {
                    Planned::Result(staged) => staged,
                    // The other calls that are done keep their results: a compensation needs them.
                    Planned::RollsBack(failed) => {
                        failure.get_or_insert(failed);
                        continue;
                    }
                };
                apply_result(&mut self.open, &staged);
                match self.keeping {
                    // The last result is committed together with the cycle.
                    Keeping::Cycle if left == 0 && failure.is_none() => last = Some(Record::Staged(staged)),
                    Keeping::Cycle => self.session.write(Record::Staged(staged).into()).await?,
                    Keeping::Messages => {}
                }
            }
            if let Some(failed) = failure {
                return Ok(End::Failed(failed, race.never_begun().to_vec()));
            }
            if let Some(why) = stopped.filter(|_| left > 0) {
                return Ok(End::Stopped(why, race.never_begun().to_vec()));
            }
        }
        Ok(End::Complete(last))
    }

    /// Ends the cycle: commits it, or rolls it back.
    pub(super) async fn end(mut self, end: End) -> Result<ToolCycleResult, SessionError> {
        match end {
            End::Complete(last) => {
                let outcomes = self.close(last, Close::Complete).await?;
                let error = self.not_run_error();
                let success = error.is_none();
                Ok(ToolCycleResult { success, outcomes, error, stopped: None, rolled_back: false })
            }
            End::Stopped(why, never_begun) => self.end_stopped(why, &never_begun).await,
            End::Failed(Failed { mut error, reason }, never_begun) => {
                reset_never_begun(&mut self.open, &never_begun);
                let undoer = Undoer { executor: self.executor, turn: &self.turn };
                let not_undone = roll_back_and_undo(self.session, &self.open, reason, undoer).await?;
                if not_undone > 0 {
                    error = format!("{error} ({not_undone} calls could not be undone)");
                }
                let (outcomes, error) = (Vec::new(), Some(error));
                Ok(ToolCycleResult { success: false, outcomes, error, stopped: None, rolled_back: true })
            }
        }
    }

    /// Ends a cycle that the host stopped, as the policy says.
    async fn end_stopped(mut self, why: StopCause, never_begun: &[ToolCall]) -> Result<ToolCycleResult, SessionError> {
        let mut open = self.open.clone();
        reset_never_begun(&mut open, never_begun);
        let fate = match self.keeping {
            Keeping::Cycle => self.session.facts().fate_of(&open),
            Keeping::Messages => Fate::Close,
        };
        let (mut outcomes, error) = (Vec::new(), Some(stop_name(why).to_owned()));
        match fate {
            Fate::Close => outcomes = self.close(None, Close::Stopped { why, never_begun }).await?,
            Fate::RollBack => {
                let undoer = Undoer { executor: self.executor, turn: &self.turn };
                roll_back_and_undo(self.session, &open, UNANSWERED, undoer).await?;
            }
            Fate::Stay => {}
        }
        let (stopped, rolled_back) = (Some(why), fate == Fate::RollBack);
        Ok(ToolCycleResult { success: false, outcomes, error, stopped, rolled_back })
    }

    async fn close(&mut self, last: Option<Record>, close: Close<'_>) -> Result<Vec<CycleOutcome>, SessionError> {
        let planned = self.session.facts().plan_close(&self.open, &self.turn, close, self.keeping);
        write_close(self.session, last, planned).await
    }

    /// The error of a cycle some of whose calls must not run.
    fn not_run_error(&self) -> Option<String> {
        let count = self.open.calls.iter().filter(|call| must_not_run(call)).count();
        (count > 0)
            .then(|| format!("{count} of {} calls must not be run: their results say why", self.open.calls.len()))
    }
}

/// Writes the last result of a cycle and its end in one commit. The last result is there, whether its cycle can be
/// committed or not.
pub(in crate::session) async fn write_close(
    session: &mut Session,
    last: Option<Record>,
    planned: Result<(Batch, Vec<CycleOutcome>), SessionError>,
) -> Result<Vec<CycleOutcome>, SessionError> {
    match planned {
        Ok((mut batch, outcomes)) => {
            batch.records.splice(0..0, last);
            session.write(batch).await?;
            Ok(outcomes)
        }
        Err(error) => {
            session.write(Batch::of(last.into_iter().collect())).await?;
            Err(error)
        }
    }
}

/// An executor that undoes calls, and the turn that made them.
#[derive(Clone, Copy)]
pub(in crate::session) struct Undoer<'u> {
    pub(in crate::session) executor: &'u dyn ToolExecutor,
    pub(in crate::session) turn: &'u ToolTurn,
}

/// Rolls a cycle back. An incident lists the calls that could have been undone.
pub(in crate::session) async fn roll_back(
    session: &mut Session,
    open: &OpenCycle,
    reason: &str,
) -> Result<(), SessionError> {
    let batch = session.facts().plan_roll_back(open, reason, Compensation::Impossible);
    session.write(batch).await
}

/// Rolls a cycle back, undoes the calls that can be undone, and says how many could not be.
pub(in crate::session) async fn roll_back_and_undo(
    session: &mut Session,
    open: &OpenCycle,
    reason: &str,
    undoer: Undoer<'_>,
) -> Result<usize, SessionError> {
    let batch = session.facts().plan_roll_back(open, reason, Compensation::Follows);
    session.write(batch).await?;
    undo_calls(session, open, undoer).await
}

/// Undoes the calls of a cycle that is rolled back, the last one first, and says how many could not be. The outcome of each is
/// recorded. If recording fails, the other calls are still undone, because no later step undoes them.
pub(in crate::session) async fn undo_calls(
    session: &mut Session,
    open: &OpenCycle,
    Undoer { executor, turn }: Undoer<'_>,
) -> Result<usize, SessionError> {
    let (mut failed, mut written) = (0, Ok(()));
    for call in open.calls.iter().rev().filter(|call| is_compensatable(call)) {
        let is_undone = match turn.call(&call.id) {
            Some(made) => {
                let made = ToolCall { key: Some(session.facts().key(&open.id, &call.id)), ..made.clone() };
                undo_call(executor, &made, call).await
            }
            None => false,
        };
        failed += usize::from(!is_undone);
        let outcome = if is_undone { CompensationOutcome::Undone } else { CompensationOutcome::Failed };
        let batch = session.facts().plan_compensated(&open.id, call, outcome);
        written = written.and(session.write(batch).await);
    }
    written.map(|()| failed)
}

/// Undoes a call under the key that it ran under, and says whether its tool could.
async fn undo_call(executor: &dyn ToolExecutor, made: &ToolCall, call: &OpenCall) -> bool {
    let returned = returned(call);
    let undoing = AssertUnwindSafe(async { executor.compensate(made, returned).await });
    // A tool that panics has not undone the call.
    matches!(undoing.catch_unwind().await, Ok(Ok(())))
}

fn stop_name(why: StopCause) -> &'static str {
    match why {
        StopCause::Aborted => "aborted",
        StopCause::TimedOut => "timed out",
    }
}

/// The effect of a call. A tool that panics when it is asked has the default effect.
fn effect_of(executor: &dyn ToolExecutor, call: &ToolCall) -> Effect {
    std::panic::catch_unwind(AssertUnwindSafe(|| executor.effect(call))).unwrap_or_default()
}

/// Runs a call. A tool that panics could not be run.
pub(in crate::session) async fn run_call<'c>(
    executor: &dyn ToolExecutor,
    call: &'c ToolCall,
) -> (&'c ToolCall, Result<ToolOutput, CallFailure>) {
    let outcome = AssertUnwindSafe(async { executor.execute(call).await }).catch_unwind().await;
    (call, outcome.map_or(Err(CallFailure::Crashed), |ran| ran.map_err(CallFailure::Failed)))
}
