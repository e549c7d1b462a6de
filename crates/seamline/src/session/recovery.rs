//! After a crash: what is known of each call, and what is done about it.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use seamline_store::{CallState, Effect, IncidentKind, IncidentSeverity, OpenCall, OpenCycle, Record, State};

use super::closing::outcome;
use super::context::{lost_with, unfinished_of};
use super::cycle::{is_finished, returned};
use super::running::executed;
use super::{CycleOutcome, Session, SessionError, ToolCall, ToolExecutor, ToolOutput, UnknownOutcome, texts};

/// What is known of a call.
///
/// ```
/// assert_ne!(seamline::session::Truth::NeverStarted, seamline::session::Truth::Finished);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// It did not run.
    NeverStarted,
    /// It only reads, so nothing depends on whether it was begun: it may have run, and that harmed nothing.
    Harmless,
    /// It was begun, and nobody knows what became of it.
    OutcomeUnknown,
    /// It ran, and what it returned is kept.
    Finished,
}

/// A call of a cycle that a crash left open.
///
/// ```
/// use seamline::session::{Truth, Unresolved};
/// use seamline::store::Effect;
///
/// let call = Unresolved { cycle: "cycle_4".into(), call: "toolu_1".into(), tool: "pay".into(),
///     effect: Effect::Unsafe, truth: Truth::OutcomeUnknown };
/// assert!(!call.effect.may_run_again());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// The cycle.
    pub cycle: String,
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What running it does to the world.
    pub effect: Effect,
    /// What is known of it.
    pub truth: Truth,
}

/// What recovery did.
///
/// ```
/// assert_eq!(seamline::session::Recovered::default().cycles, 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    /// How many cycles were closed.
    pub cycles: usize,
    /// How many of them were taken back: nothing of them had begun, or what nobody knows is to be
    /// [forgotten](UnknownOutcome::Forget).
    pub taken_back: usize,
    /// How many calls were run again.
    pub run_again: usize,
    /// How many calls have an outcome that nobody knows.
    pub unknown: usize,
}

impl Session {
    /// The calls of cycles that are not whole, with what is known of each. After a crash these are the ones that
    /// [`Session::recover`] will close; while tools run, theirs.
    pub fn unresolved(&self) -> Vec<Unresolved> {
        unresolved(&self.state)
    }

    /// Closes the cycles that a crash left open. What finished is kept and not run again; what never started is said to
    /// have not; of the rest, calls that may be run again are, where there is somebody to run them, and the others are
    /// said to have an outcome that nobody knows. A cycle of which nothing had begun is taken back. So is one with an
    /// unknown outcome where that is to be [forgotten](UnknownOutcome::Forget), and what can be undone of it is
    /// [undone](ToolExecutor::compensate).
    ///
    /// Doing it twice does nothing the second time. Call it before tools are run: it closes their cycles as well. What was
    /// said since a turn was begun stands behind it and its results.
    ///
    /// # Errors
    /// When a turn cannot be read any more, or the store could not keep something. Cycles that were closed by then are, and
    /// the others are as open as before: it may be called again.
    pub async fn recover(&mut self, executor: Option<&dyn ToolExecutor>) -> Result<Recovered, SessionError> {
        self.settle().await?;
        let mut recovered = Recovered::default();
        for cycle in self.state.cycles.clone() {
            self.recover_cycle(cycle, executor, &mut recovered).await?;
        }
        Ok(recovered)
    }

    /// Closes cycles that nobody is about any more, though nobody broke them off.
    pub(super) async fn close_cycles(&mut self) -> Result<(), SessionError> {
        self.recover(None).await.map(|_| ())
    }

    /// Closes one such cycle, and gives what its calls are answered with, unless it was taken back.
    pub(super) async fn recover_cycle(
        &mut self,
        cycle: OpenCycle,
        executor: Option<&dyn ToolExecutor>,
        recovered: &mut Recovered,
    ) -> Result<Vec<CycleOutcome>, SessionError> {
        recovered.cycles += 1;
        let untouched = cycle.calls.iter().all(|call| truth(call) == Truth::NeverStarted);
        let unknown = |calls: &[OpenCall]| calls.iter().filter(|call| truth(call) == Truth::OutcomeUnknown).count();
        let forgets = self.config.unknown_outcome == UnknownOutcome::Forget;
        if untouched || (forgets && unknown(&cycle.calls) > 0) {
            recovered.taken_back += 1;
            self.forget_cycle(&cycle, executor).await?;
            return Ok(Vec::new());
        }
        let (cycle, run_again) = self.rerun(cycle, executor).await?;
        recovered.run_again += run_again;
        recovered.unknown += unknown(&cycle.calls);
        self.close_by_truth(&cycle).await
    }

    /// The incidents that cycles are forgotten of which calls have run, or were begun and nobody knows what became of
    /// them. What tools said is not in them.
    pub(super) fn forgotten(&self, cycles: &[OpenCycle]) -> Vec<Record> {
        let told = [
            (
                Truth::OutcomeUnknown,
                IncidentKind::OutcomeUnknown,
                "calls that were begun were taken back with their cycle",
            ),
            (Truth::Finished, IncidentKind::Rollback, "calls that had finished were taken back with their cycle"),
        ];
        let told = told.into_iter().filter_map(|(what, kind, detail)| {
            let calls = cycles.iter().flat_map(|cycle| &cycle.calls).filter(|call| truth(call) == what);
            let names: Vec<String> = calls.map(|call| format!("{} of {}", call.id, call.tool)).collect();
            let detail = format!("{detail}: {}", names.join(", "));
            let mut incident = self.incident(kind, IncidentSeverity::Error, detail);
            incident.count = names.len() as u64;
            (!names.is_empty()).then_some(Record::Incident(incident))
        });
        told.collect()
    }

    async fn forget_cycle(
        &mut self,
        cycle: &OpenCycle,
        executor: Option<&dyn ToolExecutor>,
    ) -> Result<(), SessionError> {
        let is_untouched = cycle.calls.iter().all(|call| truth(call) == Truth::NeverStarted);
        let (kind, detail) = if is_untouched {
            (IncidentKind::NotExecuted, "a cycle of which nothing had begun was taken back")
        } else {
            (IncidentKind::Rollback, "a cycle was taken back although calls of it had begun")
        };
        let mut incident = self.incident(kind, IncidentSeverity::Warning, detail);
        incident.checkpoint.clone_from(&cycle.checkpoint);
        incident.count = cycle.calls.len() as u64;
        let mut records = Self::taking_back(cycle, detail);
        records.push(Record::Incident(incident));
        records.extend(self.forgotten(std::slice::from_ref(cycle)));
        records.extend(self.undoing(cycle, executor.is_some()));
        let made = self.wire.calls(&cycle.turn)?;
        self.write_losing(records, lost_with(cycle)).await?;
        if let Some(executor) = executor {
            self.undo_calls(cycle, &made, executor).await?;
        }
        Ok(())
    }

    /// Runs again what may be, and asks about what can be asked about.
    async fn rerun(
        &mut self,
        cycle: OpenCycle,
        executor: Option<&dyn ToolExecutor>,
    ) -> Result<(OpenCycle, usize), SessionError> {
        let Some(executor) = executor else { return Ok((cycle, 0)) };
        let made = self.wire.calls(&cycle.turn)?.into_iter().zip(self.wire.not_run(&cycle.turn)?);
        let made: Vec<ToolCall> = made.filter(|(_, not_run)| not_run.is_none()).map(|(call, _)| call).collect();
        let mut count = 0;
        for open in cycle.calls.iter().filter(|call| !is_finished(call)) {
            let Some(call) = made.iter().find(|call| call.id == open.id) else { continue };
            let key = super::idempotency_key(&self.id, self.state.generation, &cycle.id, &open.id);
            let call = ToolCall { key: Some(key), ..call.clone() };
            // What is about to be run for the first time is written down as always.
            if truth(open) == Truth::NeverStarted && open.effect.may_run_again() {
                self.start_call(&cycle.id, &open.id).await?;
            }
            let Some(output) = again(executor, open, &call).await else { continue };
            count += 1;
            let staged = self.staged_or_told(&cycle.id, &open.id, &output)?;
            self.write(vec![staged]).await?;
        }
        Ok((self.open_cycle(&cycle.id)?, count))
    }

    /// Makes a cycle whole, each call without a result answered with what is known of it.
    async fn close_by_truth(&mut self, cycle: &OpenCycle) -> Result<Vec<CycleOutcome>, SessionError> {
        let answers = self.answers(cycle, known)?;
        let mut records = self.closing(cycle, &answers)?;
        for call in cycle.calls.iter().filter(|call| !is_finished(call)) {
            let (kind, severity) = match truth(call) {
                Truth::OutcomeUnknown => (IncidentKind::OutcomeUnknown, IncidentSeverity::Error),
                Truth::Harmless => (IncidentKind::OutcomeUnknown, IncidentSeverity::Info),
                Truth::NeverStarted | Truth::Finished => (IncidentKind::NotExecuted, IncidentSeverity::Warning),
            };
            let mut incident = self.incident(kind, severity, format!("call {} of {}", call.id, call.tool));
            incident.count = 1;
            records.push(Record::Incident(incident));
        }
        self.write_losing(records, unfinished_of(cycle)).await?;
        Ok(answers.into_iter().map(|(answer, synthetic)| outcome(answer, synthetic)).collect())
    }
}

/// The calls of cycles that are not whole.
pub(super) fn unresolved(state: &State) -> Vec<Unresolved> {
    let of_cycle = |cycle: &OpenCycle| {
        let id = cycle.id.clone();
        let calls = cycle.calls.clone().into_iter();
        calls.map(move |call| Unresolved {
            cycle: id.clone(),
            truth: truth(&call),
            call: call.id,
            tool: call.tool,
            effect: call.effect,
        })
    };
    state.cycles.iter().flat_map(of_cycle).collect()
}

/// Runs a call again if that is allowed, or asks what became of it.
async fn again(executor: &dyn ToolExecutor, open: &OpenCall, call: &ToolCall) -> Option<ToolOutput> {
    match (truth(open), open.effect) {
        (Truth::OutcomeUnknown, Effect::Probe) => {
            // A tool that crashes when it is asked cannot tell.
            AssertUnwindSafe(async { executor.probe(call).await }).catch_unwind().await.ok().flatten()
        }
        (Truth::OutcomeUnknown | Truth::NeverStarted | Truth::Harmless, effect) if effect.may_run_again() => {
            executed(executor, call).await.1.ok()
        }
        _ => None,
    }
}

/// What the model reads about a call without a result.
fn known(call: &OpenCall) -> String {
    match &call.state {
        CallState::Pending | CallState::Started { .. } if !call.effect.needs_intent() => {
            texts::outcome_harmless(&call.tool, &call.id)
        }
        CallState::Started { at, key } => texts::outcome_unknown(&call.tool, &call.id, *at, key),
        CallState::Pending | CallState::Finished { .. } => texts::not_executed(&call.tool, &call.id),
    }
}

/// What is known of a call.
pub(super) fn truth(call: &OpenCall) -> Truth {
    match &call.state {
        // Whether it was begun may be written down of a call that only reads: it is as harmless then.
        CallState::Pending | CallState::Started { .. } if !call.effect.needs_intent() => Truth::Harmless,
        CallState::Started { .. } => Truth::OutcomeUnknown,
        CallState::Finished { .. } if returned(call).is_some() => Truth::Finished,
        CallState::Pending | CallState::Finished { .. } => Truth::NeverStarted,
    }
}
