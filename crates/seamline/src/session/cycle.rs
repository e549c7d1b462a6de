//! Cycles of calls and results: all of one, or nothing.

use std::hash::{BuildHasher as _, RandomState};

use seamline_store::{
    CallRecord, CallState, CycleEnd, Dropped, Effect, IncidentKind, IncidentSeverity, Intent, OpenCall, OpenCycle,
    Operation, Raw, Record, Rejected, Staged, Turn,
};
use serde::{Deserialize, Serialize};

use super::closing::never_ran;
use super::context::lost_with;
use super::runnable::NotRun;
use super::wire::arguments_hash;
use super::{Session, SessionError, ToolCall, ToolExecutor, ToolOutput, idempotency_key, texts};

/// What came of a cycle.
///
/// ```
/// let failed = seamline::session::ToolCycleResult {
///     success: false,
///     outcomes: Vec::new(),
///     error: Some("boom".to_owned()),
///     rolled_back: true,
/// };
/// let written = serde_json::to_string(&failed).unwrap();
/// assert_eq!(written, r#"{"success":false,"outcomes":[],"error":"boom","rolledBack":true}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCycleResult {
    /// Whether every call was run, and the turn and all results are there to be seen.
    pub success: bool,
    /// What each call is answered with, in the order of the calls; nothing where the cycle was taken back.
    pub outcomes: Vec<CycleOutcome>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the cycle was taken back.
    pub rolled_back: bool,
}

/// What one call is answered with.
///
/// ```
/// let outcome = seamline::session::CycleOutcome {
///     tool_use_id: "toolu_1".to_owned(),
///     content: "ok".to_owned(),
///     is_error: false,
///     synthetic: false,
/// };
/// assert!(serde_json::to_string(&outcome).unwrap().starts_with(r#"{"tool_use_id":"toolu_1""#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CycleOutcome {
    /// The call.
    pub tool_use_id: String,
    /// What the model reads.
    pub content: String,
    /// Whether it says that something failed.
    pub is_error: bool,
    /// Whether no tool said it.
    pub synthetic: bool,
}

/// How many bytes the results of a cycle may have together: they are made whole in one commit, and the last one is in it
/// twice.
const RESULTS_BYTES_MAX: usize = 100 * 1024 * 1024;

/// What a tool returned, as it is kept until its cycle is whole.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) output: String,
    /// Whether no tool returned it: the call must not be run, and this is what the model is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) told: bool,
}

/// A call that a turn makes, and why it must not be run, if so.
pub(super) type Made = (ToolCall, Option<NotRun>);

impl Session {
    /// Begins a cycle for a host that runs tools itself: a checkpoint is made, and the turn is kept but not seen before
    /// [`Session::commit_cycle`]. What [`Session::before_agent_start`] made for asking is committed with it. Gives the
    /// cycle's id and the calls that are to be run, each under a name that no other one of the turn has.
    ///
    /// A call without an id gets one, in the turn too. A call that must not be run, because it was cut off, its input
    /// cannot be read or it names no tool, is not among them: the model is told why in its result. Neither are calls
    /// that the turn itself answers.
    ///
    /// # Errors
    /// When the turn is no JSON, has something that is no message or makes no calls, the session is being compacted, or
    /// the store could not keep it.
    pub async fn begin_cycle(
        &mut self,
        turn: &[&str],
        effect: &(dyn Fn(&ToolCall) -> Effect + Send + Sync),
    ) -> Result<(String, Vec<ToolCall>), SessionError> {
        self.begin_cycle_with(turn, effect, false).await
    }

    pub(super) async fn begin_cycle_with(
        &mut self,
        turn: &[&str],
        effect: &(dyn Fn(&ToolCall) -> Effect + Send + Sync),
        start: bool,
    ) -> Result<(String, Vec<ToolCall>), SessionError> {
        self.settle().await?;
        if self.compaction.is_some() {
            return Err(SessionError::Refused(
                "the session is being compacted: finish or cancel that first".to_owned(),
            ));
        }
        let (raws, calls) = self.made(turn)?;
        let Some((message, more)) = raws.split_first().filter(|_| !calls.is_empty()) else {
            return Err(SessionError::Refused("the turn makes no calls that are to be answered".to_owned()));
        };
        let cycle = self.cycle_id();
        // An answer with calls is an answer: what was made for asking went well.
        let mut records = self.answered_records();
        let (checkpoint, made_for) = self.making(Operation::ToolCycle);
        records.extend(made_for);
        let made = calls.iter().map(|(call, not_run)| CallRecord {
            id: call.id.clone(),
            tool: call.name.clone(),
            effect: if not_run.is_some() { Effect::default() } else { effect(call) },
            arguments: arguments_hash(call),
        });
        let made: Vec<CallRecord> = made.collect();
        let mut first = Vec::new();
        for (call, (_, not_run)) in made.iter().zip(&calls) {
            match not_run {
                Some(why) => first.extend(self.telling(&cycle, call, *why)?),
                None if start && call.effect.needs_intent() => first.push(self.intent(&cycle, &call.id)),
                None => {}
            }
        }
        let turn = Turn {
            cycle: cycle.clone(),
            checkpoint: Some(checkpoint),
            message: message.clone(),
            more: more.to_vec(),
            calls: made,
        };
        records.push(Record::Turn(turn));
        records.extend(first);
        self.write(records).await?;
        Ok((cycle, calls.into_iter().filter(|(_, not_run)| not_run.is_none()).map(|(call, _)| call).collect()))
    }

    /// A turn whose calls have ids, and the calls that it does not answer, each with why it must not be run.
    pub(super) fn made(&self, turn: &[&str]) -> Result<(Vec<Raw>, Vec<Made>), SessionError> {
        let raws = self.wire.identified(self.messages_of(turn)?, &self.next_id("turn"))?;
        let calls = self.wire.calls(&raws)?.into_iter().zip(self.wire.not_run(&raws)?).collect();
        Ok((raws, calls))
    }

    /// An id for a cycle that no cycle of another session has, not even of one that has the name and the past of this
    /// one in another store: the keys that calls are run under are made of it.
    fn cycle_id(&self) -> String {
        let chance = RandomState::new().hash_one(self.clock.now());
        format!("{}_{chance:016x}", self.next_id("cycle"))
    }

    /// The records that answer a call that must not be run.
    fn telling(&self, cycle: &str, call: &CallRecord, why: NotRun) -> Result<[Record; 2], SessionError> {
        let output = texts::not_run(&call.tool, &call.id, why.as_str());
        let result = Raw::of(&Kept { output, told: true })?;
        let staged = Staged { cycle: cycle.to_owned(), call: call.id.clone(), result, failed: true };
        let detail = format!("call {} of {}: {}", call.id, call.tool, why.as_str());
        let mut incident = self.incident(IncidentKind::NotExecuted, IncidentSeverity::Warning, detail);
        incident.count = 1;
        Ok([Record::Staged(staged), Record::Incident(incident)])
    }

    fn intent(&self, cycle: &str, call: &str) -> Record {
        let key = idempotency_key(&self.id, self.state.generation, cycle, call);
        Record::Intent(Intent { cycle: cycle.to_owned(), call: call.to_owned(), key })
    }

    /// Writes down that a call is about to be run, unless it only reads, and gives the key that it is run under.
    ///
    /// # Errors
    /// When the cycle has no such call, the call is past that, it was begun before and may not be run again, or the
    /// store could not keep it: then it must not be run.
    pub async fn start_call(&mut self, cycle: &str, call: &str) -> Result<String, SessionError> {
        self.settle().await?;
        let intent = self.intent(cycle, call);
        self.state.allows(&intent)?;
        self.refuse(cycle, call, "started again: nobody knows what became of it", |open| {
            matches!(open.state, CallState::Started { .. }) && !open.effect.may_run_again()
        })?;
        let calls = self.state.cycle(cycle).into_iter().flat_map(|open| &open.calls);
        if calls.filter(|open| open.id == call).any(|open| open.effect.needs_intent()) {
            self.write(vec![intent]).await?;
        }
        Ok(idempotency_key(&self.id, self.state.generation, cycle, call))
    }

    /// Writes down what a call returned.
    ///
    /// # Errors
    /// When the cycle has no such call, the call has a result, it does something to the world and was never
    /// [started](Self::start_call), it is too large to be kept with the other results, or the store could not keep it.
    pub async fn finish_call(&mut self, cycle: &str, call: &str, output: &ToolOutput) -> Result<(), SessionError> {
        self.settle().await?;
        self.may_finish(cycle, call)?;
        let staged = self.staged(cycle, call, output)?;
        self.write(vec![staged]).await
    }

    /// Whether a call waits for its result.
    pub(super) fn may_finish(&self, cycle: &str, call: &str) -> Result<(), SessionError> {
        let (cycle_id, call_id) = (cycle.to_owned(), call.to_owned());
        let staged = Staged { cycle: cycle_id, call: call_id, result: Raw::default(), failed: false };
        self.state.allows(&Record::Staged(staged))?;
        self.refuse(cycle, call, "finished before it was started", |open| {
            open.state == CallState::Pending && open.effect.needs_intent()
        })
    }

    /// The record of what a call returned, unless all results of its cycle together would be too much for one commit.
    pub(super) fn staged(&self, cycle: &str, call: &str, output: &ToolOutput) -> Result<Record, SessionError> {
        let kept: usize = self.state.cycle(cycle).into_iter().flat_map(|open| &open.calls).map(result_bytes).sum();
        let left = RESULTS_BYTES_MAX.saturating_sub(kept);
        let too_large = |bytes: usize| {
            let why = format!("the results of a cycle have {RESULTS_BYTES_MAX} bytes at most: {bytes} do not fit");
            Err(SessionError::Refused(why))
        };
        if output.output.len() > left {
            return too_large(output.output.len());
        }
        let result = Raw::of(&Kept { output: output.output.clone(), told: false })?;
        let bytes = result.as_str().len();
        if bytes > left {
            return too_large(bytes);
        }
        Ok(Record::Staged(Staged { cycle: cycle.to_owned(), call: call.to_owned(), result, failed: output.is_error }))
    }

    fn refuse(
        &self,
        cycle: &str,
        call: &str,
        what: &'static str,
        if_so: impl Fn(&OpenCall) -> bool,
    ) -> Result<(), SessionError> {
        let mut calls = self.state.cycle(cycle).into_iter().flat_map(|open| &open.calls);
        if calls.find(|open| open.id == call && !is_finished(open)).is_some_and(if_so) {
            return Err(Rejected::Call { cycle: cycle.to_owned(), call: call.to_owned(), what }.into());
        }
        Ok(())
    }

    /// Makes a cycle whole: the turn and all results are there to be seen from now on, at once.
    ///
    /// What was said since the turn was begun stands behind it and its results then.
    ///
    /// # Errors
    /// When there is no such cycle, a call of it has no result, or the store could not keep it. The cycle is as open as
    /// before then.
    pub async fn commit_cycle(&mut self, cycle: &str) -> Result<Vec<CycleOutcome>, SessionError> {
        self.settle().await?;
        let open = self.open_cycle(cycle)?;
        if let Some(call) = open.calls.iter().find(|call| !matches!(call.state, CallState::Finished { .. })) {
            let (cycle, call) = (cycle.to_owned(), call.id.clone());
            return Err(Rejected::Call { cycle, call, what: "committed without a result" }.into());
        }
        self.finished(cycle, None).await
    }

    /// Takes a cycle back: nothing of it was ever seen, and nothing will be. What its tools have done is done all the same:
    /// how many had begun is in the incident, and [`Session::repair_context`] says which. Where some of it can be undone,
    /// [`Session::undo_cycle`] does that, too.
    ///
    /// # Errors
    /// When there is no such cycle, or the store could not keep it.
    pub async fn roll_back_cycle(&mut self, cycle: &str, reason: &str) -> Result<(), SessionError> {
        self.take_back(cycle, reason, &[], None).await.map(drop)
    }

    /// Takes a cycle back and [undoes](ToolExecutor::compensate) what its calls did that can be undone, the last one
    /// first. That they are about to be is written down before, and what came of each behind it. Says how many could not
    /// be.
    ///
    /// # Errors
    /// When there is no such cycle, or the store could not keep something.
    pub async fn undo_cycle(
        &mut self,
        cycle: &str,
        reason: &str,
        executor: &dyn ToolExecutor,
    ) -> Result<usize, SessionError> {
        self.take_back(cycle, reason, &[], Some(executor)).await
    }

    /// Takes a cycle back. Of calls that never began, though it is written down that they were about to, there is nothing
    /// to be undone or told.
    pub(super) async fn take_back(
        &mut self,
        cycle: &str,
        reason: &str,
        never_begun: &[ToolCall],
        executor: Option<&dyn ToolExecutor>,
    ) -> Result<usize, SessionError> {
        self.settle().await?;
        let mut open = self.open_cycle(cycle)?;
        never_ran(&mut open, never_begun);
        let forgotten = open.calls.iter().filter(|call| has_begun(call)).count();
        let mut incident = self.incident(IncidentKind::Rollback, IncidentSeverity::Warning, reason);
        incident.checkpoint.clone_from(&open.checkpoint);
        incident.count = forgotten as u64;
        let made = self.wire.calls(&open.turn)?;
        let mut records = Self::taking_back(&open, reason);
        records.push(Record::Incident(incident));
        records.extend(self.undoing(&open, executor.is_some()));
        self.write_losing(records, lost_with(&open)).await?;
        match executor {
            Some(executor) => self.undo_calls(&open, &made, executor).await,
            None => Ok(0),
        }
    }

    /// The records that take a cycle back. Nothing of it was to be seen, so there is nothing to go back for: what came
    /// since, be it messages, repairs or other cycles, is not this one's to take back.
    pub(super) fn taking_back(open: &OpenCycle, reason: &str) -> Vec<Record> {
        let end = Record::CycleEnd(CycleEnd { cycle: open.id.clone(), reason: reason.to_owned() });
        let dropped = open.checkpoint.iter().map(|id| Record::CheckpointsDropped(Dropped { ids: vec![id.clone()] }));
        std::iter::once(end).chain(dropped).collect()
    }

    pub(super) fn open_cycle(&self, cycle: &str) -> Result<OpenCycle, SessionError> {
        let open = self.state.cycle(cycle).cloned();
        open.ok_or_else(|| Rejected::NoCycle(cycle.to_owned()).into())
    }
}

pub(super) fn kept(result: &Raw) -> Kept {
    serde_json::from_str(result.as_str()).unwrap_or_else(|_| Kept { output: result.as_str().to_owned(), told: false })
}

/// What a call returned, if it ran and that is known.
pub(super) fn returned(call: &OpenCall) -> Option<String> {
    match &call.state {
        CallState::Finished { result, .. } => Some(kept(result)).filter(|kept| !kept.told).map(|kept| kept.output),
        CallState::Pending | CallState::Started { .. } => None,
    }
}

/// Whether a tool was run for a call, as far as that is written down.
fn has_begun(call: &OpenCall) -> bool {
    matches!(call.state, CallState::Started { .. }) || returned(call).is_some()
}

fn result_bytes(call: &OpenCall) -> usize {
    if let CallState::Finished { result, .. } = &call.state { result.as_str().len() } else { 0 }
}

pub(super) fn is_finished(call: &OpenCall) -> bool {
    matches!(call.state, CallState::Finished { .. })
}
