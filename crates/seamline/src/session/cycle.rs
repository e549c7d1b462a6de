//! Cycles of calls and results: all of one, or nothing.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::future::{Either, FutureExt, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use seamline_store::{
    CallRecord, CallState, CycleEnd, CycleRecord, Effect, IncidentKind, IncidentSeverity, Insert, Intent, OpenCall,
    OpenCycle, Operation, Origin, Raw, Record, Rejected, Staged, Turn,
};
use serde::{Deserialize, Serialize};

use super::wire::{Answered, arguments_hash};
use super::{
    ExecutorFailure, OnFailure, Session, SessionError, Stop, ToolCall, ToolExecutor, ToolOutput, idempotency_key, said,
    texts,
};

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

/// What a tool returned, as it is kept until its cycle is whole.
#[derive(Serialize, Deserialize)]
struct Kept {
    output: String,
}

impl Session {
    /// Runs the calls of a turn, all at once, and keeps the turn and all results together or not at all.
    ///
    /// Before a call that does something to the world is run, that is written down; each result is as soon as it comes.
    /// So after a crash it is known which calls never ran, which finished, and of which nobody knows.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Running, Session, SessionOptions, ToolCall, ToolExecutor, ToolOutput};
    /// use seamline::store::MemoryStore;
    ///
    /// struct Shell;
    /// impl ToolExecutor for Shell {
    ///     fn execute<'a>(&'a self, _call: &'a ToolCall) -> Running<'a> {
    ///         Box::pin(async { Ok(ToolOutput { output: "done".to_owned(), is_error: false }) })
    ///     }
    /// }
    ///
    /// # futures_executor::block_on(async {
    /// let store = Arc::new(MemoryStore::new());
    /// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
    /// session.append(r#"{"role":"user","content":"run it"}"#).await?;
    /// let turn = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"sh","input":{}}]}"#;
    ///
    /// let result = session.execute_tool_cycle(&[turn], &Shell, std::future::pending()).await?;
    /// assert!(result.success && result.outcomes[0].content == "done");
    /// assert_eq!(session.messages().count(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// When the turn makes no calls, or the store could not keep something. What tools do is in the result.
    pub async fn execute_tool_cycle(
        &mut self,
        turn: &[&str],
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = Stop> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        if !self.config.enabled {
            return self.execute_plainly(turn, executor, stop).await;
        }
        let (cycle, mut calls) = self.begin_cycle_with(turn, &|call| executor.effect(call), true).await?;
        for call in &mut calls {
            call.key = Some(idempotency_key(&self.id, self.state.generation, &cycle, &call.id));
        }
        self.run(&cycle, &calls, executor, stop).await
    }

    async fn run(
        &mut self,
        cycle: &str,
        calls: &[ToolCall],
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = Stop> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        let mut running: FuturesUnordered<_> = calls.iter().map(|call| executed(executor, call)).collect();
        let mut stop = pin!(stop);
        let mut left = calls.len();
        let mut last = None;
        while left > 0 {
            match select(running.next(), stop.as_mut()).await {
                Either::Left((Some((call, outcome)), _)) => {
                    left -= 1;
                    let output = match self.judged(outcome) {
                        Ok(output) => output,
                        Err(error) => return self.taken_back(cycle, error).await,
                    };
                    // The last result is kept together with the cycle that it makes whole.
                    if left > 0 {
                        self.finish_call(cycle, &call.id, &output).await?;
                    } else {
                        last = Some(staged(cycle, &call.id, &output)?);
                    }
                }
                Either::Left((None, _)) => break,
                Either::Right((why, _)) => return self.stopped(cycle, why).await,
            }
        }
        let outcomes = self.whole(cycle, last, Stop::Aborted).await?;
        Ok(ToolCycleResult { success: true, outcomes, error: None, rolled_back: false })
    }

    /// What a call is answered with, or why its cycle is taken back.
    fn judged(&self, outcome: Result<ToolOutput, ExecutorFailure>) -> Result<ToolOutput, String> {
        match outcome {
            Ok(output) if output.is_error && self.config.on_tool_error == OnFailure::Rollback => Err(output.output),
            Ok(output) => Ok(output),
            Err(failure) if self.config.on_executor_failure == OnFailure::Rollback => Err(failure.0),
            Err(failure) => Ok(ToolOutput { output: texts::executor_failed(&failure.0), is_error: true }),
        }
    }

    async fn taken_back(&mut self, cycle: &str, error: String) -> Result<ToolCycleResult, SessionError> {
        self.roll_back_cycle(cycle, &error).await?;
        Ok(ToolCycleResult { success: false, outcomes: Vec::new(), error: Some(error), rolled_back: true })
    }

    async fn stopped(&mut self, cycle: &str, why: Stop) -> Result<ToolCycleResult, SessionError> {
        let error = match why {
            Stop::Aborted => "aborted",
            Stop::TimedOut => "timed out",
        };
        let outcomes = self.whole(cycle, None, why).await?;
        Ok(ToolCycleResult { success: false, outcomes, error: Some(error.to_owned()), rolled_back: false })
    }

    async fn execute_plainly(
        &mut self,
        turn: &[&str],
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = Stop> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        let raws = parsed(turn)?;
        let calls = self.wire.calls(&raws)?;
        let all = futures_util::future::join_all(calls.iter().map(|call| executed(executor, call)));
        let Either::Left((ran, _)) = select(pin!(all), pin!(stop)).await else {
            let error = Some("stopped".to_owned());
            return Ok(ToolCycleResult { success: false, outcomes: Vec::new(), error, rolled_back: false });
        };
        let answers = ran.into_iter().map(|(call, outcome)| {
            let failed =
                |failure: ExecutorFailure| ToolOutput { output: texts::executor_failed(&failure.0), is_error: true };
            let output = outcome.unwrap_or_else(failed);
            Answered { id: call.id.clone(), name: call.name.clone(), output: output.output, failed: output.is_error }
        });
        let answers: Vec<_> = answers.collect();
        let results = self.wire.results(&raws, &answers)?;
        self.write(raws.into_iter().chain(results).map(said).collect()).await?;
        let outcomes = answers.into_iter().map(|answer| outcome(answer, false)).collect();
        Ok(ToolCycleResult { success: true, outcomes, error: None, rolled_back: false })
    }

    /// Begins a cycle for a host that runs tools itself: a checkpoint is made, and the turn is kept but not seen before
    /// [`Session::commit_cycle`]. Gives the cycle's id and its calls.
    ///
    /// # Errors
    /// When the turn is no JSON or makes no calls, or the store could not keep it.
    pub async fn begin_cycle(
        &mut self,
        turn: &[&str],
        effect: &(dyn Fn(&ToolCall) -> Effect + Send + Sync),
    ) -> Result<(String, Vec<ToolCall>), SessionError> {
        self.begin_cycle_with(turn, effect, false).await
    }

    async fn begin_cycle_with(
        &mut self,
        turn: &[&str],
        effect: &(dyn Fn(&ToolCall) -> Effect + Send + Sync),
        start: bool,
    ) -> Result<(String, Vec<ToolCall>), SessionError> {
        self.settle().await?;
        let raws = parsed(turn)?;
        let calls = self.wire.calls(&raws)?;
        let Some((message, more)) = raws.split_first().filter(|_| !calls.is_empty()) else {
            return Err(SessionError::Refused("the turn makes no calls".to_owned()));
        };
        let cycle = self.next_id("cycle");
        let checkpoint = self.checkpoint_record(Operation::ToolCycle);
        let made = calls.iter().map(|call| CallRecord {
            id: call.id.clone(),
            tool: call.name.clone(),
            effect: effect(call),
            arguments: arguments_hash(call),
        });
        let made: Vec<CallRecord> = made.collect();
        let intents: Vec<Record> = made
            .iter()
            .filter(|call| start && call.effect.needs_intent())
            .map(|call| self.intent(&cycle, &call.id))
            .collect();
        let turn = Turn {
            cycle: cycle.clone(),
            checkpoint: Some(checkpoint.id.clone()),
            message: message.clone(),
            more: more.to_vec(),
            calls: made,
        };
        let mut records = vec![Record::Checkpoint(checkpoint), Record::Turn(turn)];
        records.extend(intents);
        self.write(records).await?;
        Ok((cycle, calls))
    }

    fn intent(&self, cycle: &str, call: &str) -> Record {
        let key = idempotency_key(&self.id, self.state.generation, cycle, call);
        Record::Intent(Intent { cycle: cycle.to_owned(), call: call.to_owned(), key })
    }

    /// Writes down that a call is about to be run, and gives the key that it is run under.
    ///
    /// # Errors
    /// When the cycle has no such call, the call is past that, or the store could not keep it: then it must not be run.
    pub async fn start_call(&mut self, cycle: &str, call: &str) -> Result<String, SessionError> {
        self.settle().await?;
        let intent = self.intent(cycle, call);
        self.state.allows(&intent)?;
        self.write(vec![intent]).await?;
        Ok(idempotency_key(&self.id, self.state.generation, cycle, call))
    }

    /// Writes down what a call returned.
    ///
    /// # Errors
    /// When the cycle has no such call, the call has a result, or the store could not keep it.
    pub async fn finish_call(&mut self, cycle: &str, call: &str, output: &ToolOutput) -> Result<(), SessionError> {
        self.settle().await?;
        let staged = staged(cycle, call, output)?;
        self.state.allows(&staged)?;
        self.write(vec![staged]).await
    }

    /// Makes a cycle whole: the turn and all results are there to be seen from now on, at once.
    ///
    /// # Errors
    /// When there is no such cycle, a call of it has no result, or the store could not keep it.
    pub async fn commit_cycle(&mut self, cycle: &str) -> Result<Vec<CycleOutcome>, SessionError> {
        self.settle().await?;
        let open = self.open_cycle(cycle)?;
        if let Some(call) = open.calls.iter().find(|call| !matches!(call.state, CallState::Finished { .. })) {
            let (cycle, call) = (cycle.to_owned(), call.id.clone());
            return Err(Rejected::Call { cycle, call, what: "committed without a result" }.into());
        }
        self.whole(cycle, None, Stop::Aborted).await
    }

    /// Takes a cycle back: nothing of it was ever seen, and nothing will be.
    ///
    /// # Errors
    /// When there is no such cycle, or the store could not keep it.
    pub async fn roll_back_cycle(&mut self, cycle: &str, reason: &str) -> Result<(), SessionError> {
        self.settle().await?;
        let open = self.open_cycle(cycle)?;
        let end = Record::CycleEnd(CycleEnd { cycle: cycle.to_owned(), reason: reason.to_owned() });
        let forgotten = open.calls.iter().filter(|call| call.state != CallState::Pending).count();
        let mut incident = self.incident(IncidentKind::Rollback, IncidentSeverity::Warning, reason);
        incident.checkpoint.clone_from(&open.checkpoint);
        incident.count = forgotten as u64;
        match open.checkpoint {
            // Other cycles may be open since; what they keep is not this one's to take back.
            Some(id) if self.state.view.len() > self.found(&id).map_or(0, |found| found.messages) => {
                let mut records = vec![end, Record::Incident(incident)];
                records.extend(self.commit_records(&id).unwrap_or_default());
                self.write(records).await
            }
            Some(id) => {
                let rollback = seamline_store::Rollback { checkpoint: id, since: None, reason: reason.to_owned() };
                self.write(vec![end, Record::Rollback(rollback), Record::Incident(incident)]).await
            }
            None => self.write(vec![end, Record::Incident(incident)]).await,
        }
    }

    /// Closes all cycles after somebody broke off: results that are there are kept, and the other calls are answered
    /// with what is known. Call it once the tools are stopped. Doing it twice does nothing the second time.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn abort(&mut self) -> Result<Vec<CycleOutcome>, SessionError> {
        self.settle().await?;
        let mut outcomes = Vec::new();
        let cycles: Vec<String> = self.state.cycles.iter().map(|cycle| cycle.id.clone()).collect();
        for cycle in cycles {
            outcomes.extend(self.whole(&cycle, None, Stop::Aborted).await?);
        }
        Ok(outcomes)
    }

    /// Makes a cycle whole. Calls without a result are answered with what is known.
    async fn whole(
        &mut self,
        cycle: &str,
        last: Option<Record>,
        stop: Stop,
    ) -> Result<Vec<CycleOutcome>, SessionError> {
        let mut open = self.open_cycle(cycle)?;
        if let Some(Record::Staged(staged)) = &last {
            let missing = open.calls.iter_mut().find(|call| call.id == staged.call && !is_finished(call));
            if let Some(call) = missing {
                call.state = CallState::Finished { result: staged.result.clone(), failed: staged.failed };
            }
        }
        let unanswered = open.calls.iter().filter(|call| !is_finished(call)).count();
        let texts = &self.wire.options.policy.synthetic_text;
        let text = match stop {
            Stop::Aborted => texts.aborted.clone(),
            Stop::TimedOut => texts.timeout.clone(),
        };
        let answers = open.calls.iter().map(|call| answered(call, |_| text.clone()));
        let answers: Vec<(Answered, bool)> = answers.collect();
        let mut records: Vec<Record> = last.into_iter().collect();
        records.extend(self.closing(&open, &answers)?);
        if unanswered > 0 {
            let kind = if stop == Stop::Aborted { IncidentKind::Aborted } else { IncidentKind::Timeout };
            let mut incident = self.incident(kind, IncidentSeverity::Warning, "calls were given up");
            incident.count = unanswered as u64;
            records.push(Record::Incident(incident));
        }
        self.write(records).await?;
        Ok(answers.into_iter().map(|(answer, synthetic)| outcome(answer, synthetic)).collect())
    }

    /// The records that make a cycle whole and commit its checkpoint.
    pub(super) fn closing(&self, open: &OpenCycle, answers: &[(Answered, bool)]) -> Result<Vec<Record>, SessionError> {
        let plain: Vec<Answered> = answers.iter().map(|(answer, _)| answer.clone()).collect();
        let messages = self.wire.results(&open.turn, &plain)?;
        // Where each result is a message of its own, it is known which of them were made up.
        let each = messages.len() == answers.len();
        let any = answers.iter().any(|(_, synthetic)| *synthetic);
        let results = messages.into_iter().enumerate().map(|(at, message)| {
            let synthetic = if each { answers[at].1 } else { any };
            Insert { message, origin: if synthetic { Origin::Synthetic } else { Origin::Said } }
        });
        let mut records = vec![Record::Cycle(CycleRecord { cycle: open.id.clone(), results: results.collect() })];
        if let Some(checkpoint) = &open.checkpoint {
            records.extend(self.commit_records(checkpoint).unwrap_or_default());
        }
        Ok(records)
    }

    pub(super) fn open_cycle(&self, cycle: &str) -> Result<OpenCycle, SessionError> {
        let open = self.state.cycle(cycle).cloned();
        open.ok_or_else(|| Rejected::NoCycle(cycle.to_owned()).into())
    }
}

/// What a call is answered with, and whether that was made up.
pub(super) fn answered(call: &OpenCall, unknown: impl FnOnce(&OpenCall) -> String) -> (Answered, bool) {
    let (id, name) = (call.id.clone(), call.tool.clone());
    match &call.state {
        CallState::Finished { result, failed } => {
            let output = serde_json::from_str(result.as_str())
                .map_or_else(|_| result.as_str().to_owned(), |kept: Kept| kept.output);
            (Answered { id, name, output, failed: *failed }, false)
        }
        CallState::Pending | CallState::Started { .. } => {
            (Answered { id, name, output: unknown(call), failed: true }, true)
        }
    }
}

pub(super) fn is_finished(call: &OpenCall) -> bool {
    matches!(call.state, CallState::Finished { .. })
}

fn staged(cycle: &str, call: &str, output: &ToolOutput) -> Result<Record, SessionError> {
    let result = Raw::of(&Kept { output: output.output.clone() })?;
    Ok(Record::Staged(Staged { cycle: cycle.to_owned(), call: call.to_owned(), result, failed: output.is_error }))
}

/// Runs a call. A tool that panics could not be run.
async fn executed<'c>(
    executor: &dyn ToolExecutor,
    call: &'c ToolCall,
) -> (&'c ToolCall, Result<ToolOutput, ExecutorFailure>) {
    let outcome = AssertUnwindSafe(async { executor.execute(call).await }).catch_unwind().await;
    (call, outcome.unwrap_or_else(|_| Err(ExecutorFailure("the tool crashed".to_owned()))))
}

fn outcome(answer: Answered, synthetic: bool) -> CycleOutcome {
    CycleOutcome { tool_use_id: answer.id, content: answer.output, is_error: answer.failed, synthetic }
}

fn parsed(turn: &[&str]) -> Result<Vec<Raw>, SessionError> {
    Ok(turn.iter().map(|message| Raw::parse(*message)).collect::<Result<_, _>>()?)
}
