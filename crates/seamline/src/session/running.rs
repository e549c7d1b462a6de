//! Running the calls of a turn.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::future::FutureExt;
use seamline_store::{Effect, Insert, MessageRecord, Record};

use super::closing::{GivenUp, all_of, originated, outcome};
use super::race::{Race, Step};
use super::wire::Answered;
use super::{
    CycleOutcome, ExecutorFailure, OnFailure, Session, SessionError, Stop, ToolCall, ToolCycleResult, ToolExecutor,
    ToolOutput, idempotency_key, said, texts,
};

/// Why cycles are taken back.
pub(super) const TOOL_FAILED: &str = "a tool said that it failed";
pub(super) const NOT_RUN: &str = "a tool could not be run";

/// Why a cycle is taken back: what the host is told, and what is written down, which says nothing that a tool said.
struct Failed {
    error: String,
    reason: &'static str,
}

impl Session {
    /// Runs the calls of a turn, all at once, and keeps the turn and all results together or not at all.
    ///
    /// Before a call that does something to the world is run, that is written down; each result is as soon as it comes.
    /// So after a crash it is known which calls never ran, which finished, and of which nobody knows. Calls that must
    /// not be run are answered as [`Session::begin_cycle`] says, and no tool is begun once `stop` says so.
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
    /// When the turn has something that is no message or makes no calls, or the store could not keep something. What
    /// tools do is in the result.
    pub async fn execute_tool_cycle(
        &mut self,
        turn: &[&str],
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = Stop> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        if !self.config.enabled {
            return self.execute_plainly(turn, executor, stop).await;
        }
        let (cycle, mut calls) = self.begin_cycle_with(turn, &|call| effect(executor, call), true).await?;
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
                let output = match self.judged(outcome) {
                    Ok(output) => output,
                    Err(failed) => {
                        // Nothing runs any more when what was done is undone.
                        let never_begun = race.never_begun();
                        drop(race);
                        return self.taken_back(cycle, failed, never_begun, executor).await;
                    }
                };
                let staged = self.staged_or_told(cycle, &call.id, &output)?;
                // The last result is kept together with the cycle that it makes whole.
                if left > 0 {
                    self.write(vec![staged]).await?;
                } else {
                    last = Some(staged);
                }
            }
            if let Some(why) = stopped.filter(|_| left > 0) {
                // Nothing runs any more when it is written down that it was given up.
                let never_begun = race.never_begun();
                drop(race);
                return self.stopped(cycle, why, never_begun).await;
            }
        }
        let outcomes = self.finished(cycle, last).await?;
        let error = left_out(&outcomes);
        Ok(ToolCycleResult { success: error.is_none(), outcomes, error, rolled_back: false })
    }

    /// What a call is answered with, or why its cycle is taken back.
    fn judged(&self, outcome: Result<ToolOutput, ExecutorFailure>) -> Result<ToolOutput, Failed> {
        match outcome {
            Ok(output) if output.is_error && self.config.on_tool_error == OnFailure::Rollback => {
                Err(Failed { error: output.output, reason: TOOL_FAILED })
            }
            Ok(output) => Ok(output),
            Err(failure) if self.config.on_executor_failure == OnFailure::Rollback => {
                Err(Failed { error: failure.0, reason: NOT_RUN })
            }
            Err(failure) => Ok(told(&failure)),
        }
    }

    /// What a call returned, or in its place that it is too large to be kept.
    pub(super) fn staged_or_told(&self, cycle: &str, call: &str, output: &ToolOutput) -> Result<Record, SessionError> {
        self.staged(cycle, call, output).or_else(|error| {
            let told = ToolOutput { output: texts::executor_failed(&error.to_string()), is_error: true };
            self.staged(cycle, call, &told)
        })
    }

    async fn taken_back(
        &mut self,
        cycle: &str,
        failed: Failed,
        never_begun: &[ToolCall],
        executor: &dyn ToolExecutor,
    ) -> Result<ToolCycleResult, SessionError> {
        let Failed { mut error, reason } = failed;
        let not_undone = self.take_back(cycle, reason, never_begun, Some(executor)).await?;
        if not_undone > 0 {
            error = format!("{error} ({not_undone} calls could not be undone)");
        }
        Ok(ToolCycleResult { success: false, outcomes: Vec::new(), error: Some(error), rolled_back: true })
    }

    async fn stopped(
        &mut self,
        cycle: &str,
        why: Stop,
        never_begun: &[ToolCall],
    ) -> Result<ToolCycleResult, SessionError> {
        let outcomes = self.whole(cycle, None, GivenUp { why, never_begun }).await?;
        Ok(ToolCycleResult { success: false, outcomes, error: Some(in_words(why).to_owned()), rolled_back: false })
    }

    async fn execute_plainly(
        &mut self,
        turn: &[&str],
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = Stop> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        let (raws, made) = self.made(turn)?;
        let to_run: Vec<ToolCall> =
            made.iter().filter(|(_, not_run)| not_run.is_none()).map(|(call, _)| call.clone()).collect();
        let mut ran: HashMap<&str, ToolOutput> = HashMap::new();
        let stop = pin!(stop);
        let mut race = Race::new(executor, &to_run, stop);
        let stopped = loop {
            let (stopped, done) = match race.next().await {
                Step::Done(ran) => (None, vec![ran]),
                Step::Stopped(why, done) => (Some(why), done),
                Step::Over => break None,
            };
            let done = done.into_iter().map(|(call, outcome)| (call.id.as_str(), outcome));
            ran.extend(done.map(|(id, outcome)| (id, outcome.unwrap_or_else(|failure| told(&failure)))));
            if stopped.is_some() {
                break stopped;
            }
        };
        let never_begun = race.never_begun();
        drop(race);
        // What tools have done is kept, whatever became of the others.
        let why = stopped.unwrap_or(Stop::Aborted);
        let never_begun = all_of(to_run.iter().map(|call| call.id.as_str()), never_begun);
        let answers = made.iter().zip(self.wire.call_ids(&raws)?).map(|((call, not_run), id)| {
            let (output, failed, synthetic) = match (ran.remove(call.id.as_str()), not_run) {
                (Some(ToolOutput { output, is_error }), _) => (output, is_error, false),
                (None, Some(why)) => (texts::not_run(&call.name, &call.id, why.as_str()), true, true),
                (None, None) => {
                    let never_ran = never_begun.contains(call.id.as_str());
                    (self.given_up(why, never_ran.then_some((&call.name, &call.id))), true, true)
                }
            };
            (Answered { id, name: call.name.clone(), output, failed }, synthetic)
        });
        let (answers, synthetic): (Vec<Answered>, Vec<bool>) = answers.unzip();
        let results = originated(self.wire.results(&raws, &answers)?, &synthetic);
        let results = results.map(|Insert { message, origin }| Record::Message(MessageRecord { message, origin }));
        let records = raws.into_iter().map(said).chain(results).collect();
        self.write(records).await?;
        let outcomes = answers.into_iter().zip(synthetic).map(|(answer, synthetic)| outcome(answer, synthetic));
        let outcomes: Vec<CycleOutcome> = outcomes.collect();
        let error = stopped.map(|why| in_words(why).to_owned()).or_else(|| left_out(&outcomes));
        Ok(ToolCycleResult { success: error.is_none(), outcomes, error, rolled_back: false })
    }
}

/// That calls were not run, where all others were.
fn left_out(outcomes: &[CycleOutcome]) -> Option<String> {
    let count = outcomes.iter().filter(|outcome| outcome.synthetic).count();
    (count > 0).then(|| format!("{count} of {} calls must not be run: their results say why", outcomes.len()))
}

fn in_words(why: Stop) -> &'static str {
    match why {
        Stop::Aborted => "aborted",
        Stop::TimedOut => "timed out",
    }
}

/// What the model reads of a tool that could not be run.
pub(super) fn told(failure: &ExecutorFailure) -> ToolOutput {
    ToolOutput { output: texts::executor_failed(&failure.0), is_error: true }
}

/// What running a call does to the world. A tool that panics when it is asked does not say.
fn effect(executor: &dyn ToolExecutor, call: &ToolCall) -> Effect {
    std::panic::catch_unwind(AssertUnwindSafe(|| executor.effect(call))).unwrap_or_default()
}

/// Runs a call. A tool that panics could not be run.
pub(super) async fn executed<'c>(
    executor: &dyn ToolExecutor,
    call: &'c ToolCall,
) -> (&'c ToolCall, Result<ToolOutput, ExecutorFailure>) {
    let outcome = AssertUnwindSafe(async { executor.execute(call).await }).catch_unwind().await;
    (
        call,
        outcome.unwrap_or_else(|_| {
            Err(ExecutorFailure("the tool crashed; what it did until then is not known".to_owned()))
        }),
    )
}
