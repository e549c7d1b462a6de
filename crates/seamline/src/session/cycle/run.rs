//! The runner of a cycle: the one way to run the calls of a turn.
//!
//! It runs the calls, keeps each result, and commits, stops or rolls back the cycle. With integrity switched off it is
//! the same runner; only [`Keeping`] differs.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::future::FutureExt;
use seamline_store::{Effect, OpenCall, OpenCycle, Record};

use super::begin::{Intents, NewTurn};
use super::call::{apply_result, plan_result_or_limit, returned};
use super::close::{Close, Keeping, reset_never_begun};
use super::race::{Race, Step};
use super::roll_back::{Compensation, Fate, is_compensatable};
use super::{CycleOutcome, ExecutorFailure, Stop, ToolCycleResult, ToolExecutor, ToolOutput, random};
use crate::session::facts::Batch;
use crate::session::recover::texts;
use crate::session::wire::ToolTurn;
use crate::session::{OnFailure, Session, SessionError, SessionPolicy, ToolCall};

/// The reasons for rollbacks. They contain no tool output.
pub(in crate::session) const TOOL_FAILED: &str = "a tool reported a failure";
pub(in crate::session) const UNANSWERED: &str = "a tool call has no result";
pub(in crate::session) const NOT_RUN: &str = "a tool could not be run";

/// A cycle that runs.
struct Run {
    /// The cycle, with the results that are there.
    open: OpenCycle,
    turn: ToolTurn,
    /// The calls to run.
    calls: Vec<ToolCall>,
    keeping: Keeping,
}

/// How the calls of a run ended.
enum End {
    /// Every call has its result. The last one is not durable yet.
    Complete(Option<Record>),
    /// The host stopped the calls. These did not begin.
    Stopped(Stop, Vec<ToolCall>),
    /// A failure rolls the cycle back. These calls did not begin.
    Failed(Failed, Vec<ToolCall>),
}

/// A failure that rolls a cycle back.
struct Failed {
    /// The text for the host.
    error: String,
    /// The reason that is recorded.
    reason: &'static str,
}

impl Session {
    /// Begins a run: with a durable cycle, or with integrity switched off with one that only this run knows.
    async fn begin_run(&mut self, turn: NewTurn<'_>, executor: &dyn ToolExecutor) -> Result<Run, SessionError> {
        self.settle().await?;
        let facts = self.facts();
        let turn = facts.read_new_turn(turn)?;
        let mut calls: Vec<ToolCall> = turn.runnable().cloned().collect();
        if !self.wire.config().enabled {
            let open = facts.plain_cycle(&turn)?;
            return Ok(Run { open, turn, calls, keeping: Keeping::Messages });
        }
        let effect = |call: &ToolCall| effect_of(executor, call);
        let (batch, cycle) = facts.plan_begin(&turn, &effect, Intents::WithTurn, random())?;
        self.write(batch).await?;
        let facts = self.facts();
        for call in &mut calls {
            call.key = Some(facts.key(&cycle, &call.id));
        }
        let open = facts.open_cycle(&cycle)?.clone();
        Ok(Run { open, turn, calls, keeping: Keeping::Cycle })
    }

    /// Runs the calls of a turn, and ends its cycle.
    pub(super) async fn run_cycle(
        &mut self,
        turn: NewTurn<'_>,
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = Stop> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        let mut run = self.begin_run(turn, executor).await?;
        let calls = std::mem::take(&mut run.calls);
        match self.run_calls(&mut run, &calls, executor, stop).await? {
            End::Complete(last) => {
                let outcomes = self.close_run(&run, last, Close::Complete).await?;
                let error = not_run_error(&outcomes);
                Ok(ToolCycleResult { success: error.is_none(), outcomes, error, rolled_back: false })
            }
            End::Stopped(why, never_begun) if run.keeping == Keeping::Cycle && self.fate_after(&run, &never_begun) != Fate::Close => {
                reset_never_begun(&mut run.open, &never_begun);
                let rolled_back = self.facts().fate_of(&run.open) == Fate::RollBack;
                if rolled_back {
                    self.roll_back_and_undo(&run.open, UNANSWERED, Some(executor)).await?;
                }
                let (outcomes, error) = (Vec::new(), Some(stop_name(why).to_owned()));
                Ok(ToolCycleResult { success: false, outcomes, error, rolled_back })
            }
            End::Stopped(why, never_begun) => {
                let outcomes = self.close_run(&run, None, Close::Stopped { why, never_begun: &never_begun }).await?;
                let error = Some(stop_name(why).to_owned());
                Ok(ToolCycleResult { success: false, outcomes, error, rolled_back: false })
            }
            End::Failed(Failed { mut error, reason }, never_begun) => {
                reset_never_begun(&mut run.open, &never_begun);
                let not_undone = self.roll_back_and_undo(&run.open, reason, Some(executor)).await?;
                if not_undone > 0 {
                    error = format!("{error} ({not_undone} calls could not be undone)");
                }
                Ok(ToolCycleResult { success: false, outcomes: Vec::new(), error: Some(error), rolled_back: true })
            }
        }
    }

    /// What the policy does with a run that the host stopped before these calls began.
    fn fate_after(&self, run: &Run, never_begun: &[ToolCall]) -> Fate {
        let mut open = run.open.clone();
        reset_never_begun(&mut open, never_begun);
        self.facts().fate_of(&open)
    }

    /// Runs calls and keeps each result as it comes. Nothing runs any more when this returns.
    async fn run_calls(
        &mut self,
        run: &mut Run,
        calls: &[ToolCall],
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = Stop> + Send,
    ) -> Result<End, SessionError> {
        let stop = pin!(stop);
        let mut race = Race::new(executor, calls, stop);
        let mut left = calls.len();
        let mut last = None;
        while left > 0 {
            let (stopped, done) = match race.next().await {
                Step::Done(ran) => (None, vec![ran]),
                Step::Stopped(why, done) => (Some(why), done),
                Step::Over => break,
            };
            for (call, outcome) in done {
                left -= 1;
                let output = match output_of(outcome, run.keeping, &self.wire.config()) {
                    Ok(output) => output,
                    Err(failed) => return Ok(End::Failed(failed, race.never_begun().to_vec())),
                };
                let staged = plan_result_or_limit(&run.open, &call.id, &output)?;
                apply_result(&mut run.open, &staged);
                match run.keeping {
                    // The last result is committed together with the cycle.
                    Keeping::Cycle if left == 0 => last = Some(Record::Staged(staged)),
                    Keeping::Cycle => self.write(Record::Staged(staged).into()).await?,
                    Keeping::Messages => {}
                }
            }
            if let Some(why) = stopped.filter(|_| left > 0) {
                return Ok(End::Stopped(why, race.never_begun().to_vec()));
            }
        }
        Ok(End::Complete(last))
    }

    async fn close_run(
        &mut self,
        run: &Run,
        last: Option<Record>,
        close: Close<'_>,
    ) -> Result<Vec<CycleOutcome>, SessionError> {
        let (mut batch, outcomes) = self.facts().plan_close(&run.open, &run.turn, close, run.keeping)?;
        batch.records.splice(0..0, last);
        self.write(batch).await?;
        Ok(outcomes)
    }

    /// Rolls a cycle back, undoes the calls that can be undone, and says how many could not be.
    pub(in crate::session) async fn roll_back_and_undo(
        &mut self,
        open: &OpenCycle,
        reason: &str,
        executor: Option<&dyn ToolExecutor>,
    ) -> Result<usize, SessionError> {
        let turn = self.wire.read_open(open)?;
        let compensation = compensation_by(executor);
        let batch = self.facts().plan_roll_back(open, reason, compensation);
        self.write_and_undo(batch, open, &turn, executor).await
    }

    /// Writes the rollback of a cycle, and undoes its calls, the last one first. The outcome of each is recorded; where
    /// that fails, the other calls are undone all the same, since nothing returns to them.
    pub(in crate::session) async fn write_and_undo(
        &mut self,
        batch: Batch,
        open: &OpenCycle,
        turn: &ToolTurn,
        executor: Option<&dyn ToolExecutor>,
    ) -> Result<usize, SessionError> {
        self.write(batch).await?;
        let Some(executor) = executor else { return Ok(0) };
        let (mut failed, mut written) = (0, Ok(()));
        for call in open.calls.iter().rev().filter(|call| is_compensatable(call)) {
            let is_undone = self.undo_call(open, turn, call, executor).await;
            failed += usize::from(!is_undone);
            let incident = self.facts().compensated_incident(call, is_undone);
            written = written.and(self.write(incident.into()).await);
        }
        written.map(|()| failed)
    }

    /// Undoes a call under the key that it ran under, and says whether its tool could.
    async fn undo_call(&self, open: &OpenCycle, turn: &ToolTurn, call: &OpenCall, executor: &dyn ToolExecutor) -> bool {
        let Some(made) = turn.call(&call.id) else { return false };
        let made = ToolCall { key: Some(self.facts().key(&open.id, &call.id)), ..made.clone() };
        let returned = returned(call);
        let undoing = AssertUnwindSafe(async { executor.compensate(&made, returned.as_deref()).await });
        // A tool that panics has not undone the call.
        matches!(undoing.catch_unwind().await, Ok(Ok(())))
    }
}

/// Whether calls can be undone.
pub(in crate::session) fn compensation_by(executor: Option<&dyn ToolExecutor>) -> Compensation {
    if executor.is_some() { Compensation::Follows } else { Compensation::Impossible }
}

/// The output that is recorded for a call, or the failure that rolls its cycle back.
fn output_of(
    outcome: Result<ToolOutput, ExecutorFailure>,
    keeping: Keeping,
    config: &SessionPolicy,
) -> Result<ToolOutput, Failed> {
    let rolls_back = |on_failure| keeping == Keeping::Cycle && on_failure == OnFailure::Rollback;
    match outcome {
        Ok(output) if output.is_error && rolls_back(config.on_tool_error) => {
            Err(Failed { error: output.output, reason: TOOL_FAILED })
        }
        Ok(output) => Ok(output),
        Err(failure) if rolls_back(config.on_executor_failure) => Err(Failed { error: failure.0, reason: NOT_RUN }),
        Err(failure) => Ok(failure_output(&failure)),
    }
}

/// The output that the model reads of a tool that could not be run.
pub(in crate::session) fn failure_output(failure: &ExecutorFailure) -> ToolOutput {
    ToolOutput { output: texts::executor_failed(&failure.0), is_error: true }
}

/// The error of a cycle some of whose calls must not run.
fn not_run_error(outcomes: &[CycleOutcome]) -> Option<String> {
    let count = outcomes.iter().filter(|outcome| outcome.synthetic).count();
    (count > 0).then(|| format!("{count} of {} calls must not be run: their results say why", outcomes.len()))
}

fn stop_name(why: Stop) -> &'static str {
    match why {
        Stop::Aborted => "aborted",
        Stop::TimedOut => "timed out",
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
) -> (&'c ToolCall, Result<ToolOutput, ExecutorFailure>) {
    let outcome = AssertUnwindSafe(async { executor.execute(call).await }).catch_unwind().await;
    let crashed = || ExecutorFailure("the tool crashed; what it did until then is not known".to_owned());
    (call, outcome.unwrap_or_else(|_| Err(crashed())))
}
