//! Running the calls of a turn.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::future::{Either, FutureExt, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use seamline_store::Record;

use super::cycle::{outcome, parsed};
use super::wire::Answered;
use super::{
    ExecutorFailure, OnFailure, Session, SessionError, Stop, ToolCall, ToolCycleResult, ToolExecutor, ToolOutput,
    idempotency_key, said, texts,
};

/// Why a cycle is taken back: what the host is told, and what is written down, which says nothing that a tool said.
struct Failed {
    error: String,
    reason: &'static str,
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
                        Err(failed) => return self.taken_back(cycle, failed).await,
                    };
                    let staged = self.staged_or_told(cycle, &call.id, &output)?;
                    // The last result is kept together with the cycle that it makes whole.
                    if left > 0 {
                        self.write(vec![staged]).await?;
                    } else {
                        last = Some(staged);
                    }
                }
                Either::Left((None, _)) => break,
                Either::Right((why, _)) => {
                    // Nothing runs any more when it is written down that it was given up.
                    drop(running);
                    return self.stopped(cycle, why).await;
                }
            }
        }
        let outcomes = self.whole(cycle, last, Stop::Aborted).await?;
        Ok(ToolCycleResult { success: true, outcomes, error: None, rolled_back: false })
    }

    /// What a call is answered with, or why its cycle is taken back.
    fn judged(&self, outcome: Result<ToolOutput, ExecutorFailure>) -> Result<ToolOutput, Failed> {
        match outcome {
            Ok(output) if output.is_error && self.config.on_tool_error == OnFailure::Rollback => {
                Err(Failed { error: output.output, reason: "a tool said that it failed" })
            }
            Ok(output) => Ok(output),
            Err(failure) if self.config.on_executor_failure == OnFailure::Rollback => {
                Err(Failed { error: failure.0, reason: "a tool could not be run" })
            }
            Err(failure) => Ok(told(&failure)),
        }
    }

    /// What a call returned, or in its place that it is too large to be kept.
    fn staged_or_told(&self, cycle: &str, call: &str, output: &ToolOutput) -> Result<Record, SessionError> {
        self.staged(cycle, call, output).or_else(|error| {
            let told = ToolOutput { output: texts::executor_failed(&error.to_string()), is_error: true };
            self.staged(cycle, call, &told)
        })
    }

    async fn taken_back(&mut self, cycle: &str, failed: Failed) -> Result<ToolCycleResult, SessionError> {
        let Failed { error, reason } = failed;
        self.roll_back_cycle(cycle, reason).await?;
        Ok(ToolCycleResult { success: false, outcomes: Vec::new(), error: Some(error), rolled_back: true })
    }

    async fn stopped(&mut self, cycle: &str, why: Stop) -> Result<ToolCycleResult, SessionError> {
        let outcomes = self.whole(cycle, None, why).await?;
        Ok(ToolCycleResult { success: false, outcomes, error: Some(in_words(why).to_owned()), rolled_back: false })
    }

    async fn execute_plainly(
        &mut self,
        turn: &[&str],
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = Stop> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        let raws = parsed(turn)?;
        let calls = self.wire.calls(&raws)?;
        let mut ran: Vec<Option<ToolOutput>> = vec![None; calls.len()];
        let stopped = {
            let numbered = calls.iter().enumerate();
            let running = numbered.map(|(at, call)| async move { (at, executed(executor, call).await.1) });
            let mut running: FuturesUnordered<_> = running.collect();
            let mut stop = pin!(stop);
            loop {
                match select(running.next(), stop.as_mut()).await {
                    Either::Left((Some((at, outcome)), _)) => {
                        ran[at] = Some(outcome.unwrap_or_else(|failure| told(&failure)));
                    }
                    Either::Left((None, _)) => break None,
                    Either::Right((why, _)) => break Some(why),
                }
            }
        };
        // What tools have done is kept, whatever became of the others.
        let given_up = ToolOutput { output: self.given_up(stopped.unwrap_or(Stop::Aborted)), is_error: true };
        let ids = self.wire.call_ids(&raws)?;
        let answers = calls.iter().zip(ids).zip(&ran).map(|((call, id), output)| {
            let ToolOutput { output, is_error } = output.clone().unwrap_or_else(|| given_up.clone());
            Answered { id, name: call.name.clone(), output, failed: is_error }
        });
        let answers: Vec<_> = answers.collect();
        let results = self.wire.results(&raws, &answers)?;
        self.write(raws.into_iter().chain(results).map(said).collect()).await?;
        let outcomes = answers.into_iter().zip(&ran).map(|(answer, output)| outcome(answer, output.is_none()));
        let error = stopped.map(|why| in_words(why).to_owned());
        Ok(ToolCycleResult { success: error.is_none(), outcomes: outcomes.collect(), error, rolled_back: false })
    }
}

fn in_words(why: Stop) -> &'static str {
    match why {
        Stop::Aborted => "aborted",
        Stop::TimedOut => "timed out",
    }
}

/// What the model reads of a tool that could not be run.
fn told(failure: &ExecutorFailure) -> ToolOutput {
    ToolOutput { output: texts::executor_failed(&failure.0), is_error: true }
}

/// Runs a call. A tool that panics could not be run.
pub(super) async fn executed<'c>(
    executor: &dyn ToolExecutor,
    call: &'c ToolCall,
) -> (&'c ToolCall, Result<ToolOutput, ExecutorFailure>) {
    let outcome = AssertUnwindSafe(async { executor.execute(call).await }).catch_unwind().await;
    (call, outcome.unwrap_or_else(|_| Err(ExecutorFailure("the tool crashed".to_owned()))))
}
