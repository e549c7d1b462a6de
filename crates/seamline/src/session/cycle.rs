//! Tool cycles: a turn with its calls and all their results is in the view as a whole or not at all.
//!
//! `begin` plans the start of a cycle, `call` the start and the result of each call, `close` the commit, `roll_back` the
//! rollback, and `order` moves messages that were appended meanwhile after the results. `run` runs all of it.

pub(super) mod begin;
pub(super) mod call;
pub(super) mod close;
mod executor;
pub(super) mod order;
mod race;
pub(super) mod roll_back;
pub(super) mod run;

use std::future::Future;
use std::hash::{BuildHasher as _, RandomState};

use seamline_store::{CallId, CycleId, Effect, Record};
use serde::Serialize;

use super::wire::ToolTurn;
use super::{Session, SessionError, ToolCall};
use crate::stream::Response;
use begin::{EffectOf, Intents, NewTurn};
use call::plan_output;
use close::{Close, Keeping};
use run::{Run, Undoer, roll_back, roll_back_and_undo};

pub use executor::{ExecutorFailure, Running, StopCause, ToolExecutor, ToolOutput, Undoing};

/// The outcome of a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCycleResult {
    /// Whether every call ran, and the turn and all results are in the view.
    pub success: bool,
    /// The result of each call, in the order of the calls; empty where the cycle was rolled back.
    pub outcomes: Vec<CycleOutcome>,
    /// The text of the error, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why the host stopped the calls, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<StopCause>,
    /// Whether the cycle was rolled back.
    pub rolled_back: bool,
}

/// The result of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CycleOutcome {
    /// The id that the turn gives the call.
    pub tool_use_id: CallId,
    /// The text that the model reads.
    pub content: String,
    /// Whether the text reports a failure.
    pub is_error: bool,
    /// Whether no tool wrote the text.
    pub synthetic: bool,
}

impl Session {
    /// Begins a cycle for a host that runs tools itself. The turn and a checkpoint are durable, and the turn is not in the
    /// view before [`Session::commit_cycle`]. The checkpoint of [`Session::before_agent_start`] is committed with it.
    /// Gives the id of the cycle and the calls to run, each under an id that no other call of the turn has.
    ///
    /// A call without an id gets one, in the turn too. A call that must not run, because it was truncated, its arguments
    /// cannot be read or it names no tool, is not among them: its result tells the model why. Calls that the turn itself
    /// answers are not among them either.
    ///
    /// # Errors
    /// When the turn is not JSON, contains a value that is not a message or makes no calls, the session is being
    /// compacted, or the store failed.
    pub async fn begin_cycle(
        &mut self,
        turn: &[&str],
        effect: &(dyn Fn(&ToolCall) -> Effect + Send + Sync),
    ) -> Result<(CycleId, Vec<ToolCall>), SessionError> {
        self.begin_turn(NewTurn::of(turn), effect).await
    }

    /// Begins a cycle with a streamed response, as [`Session::begin_cycle`] does with messages. Calls that must
    /// not run are kept as the policy says, and their results tell the model why.
    ///
    /// # Errors
    /// As for [`Session::begin_cycle`].
    pub async fn begin_response(
        &mut self,
        response: &Response,
        effect: &(dyn Fn(&ToolCall) -> Effect + Send + Sync),
    ) -> Result<(CycleId, Vec<ToolCall>), SessionError> {
        let (messages, refused) = response.turn();
        self.begin_turn(NewTurn { messages: &messages, refused }, effect).await
    }

    pub(super) async fn begin_turn(
        &mut self,
        turn: NewTurn<'_>,
        effect: EffectOf<'_>,
    ) -> Result<(CycleId, Vec<ToolCall>), SessionError> {
        self.settle().await?;
        let turn = self.facts().read_new_turn(turn)?;
        let cycle = self.begin_read_turn(&turn, effect).await?;
        Ok((cycle, turn.runnable().cloned().collect()))
    }

    /// Begins a cycle with a turn that is read already.
    pub(super) async fn begin_read_turn(
        &mut self,
        turn: &ToolTurn,
        effect: EffectOf<'_>,
    ) -> Result<CycleId, SessionError> {
        let (batch, cycle) = self.facts().plan_begin(turn, effect, Intents::PerCall, random())?;
        self.write(batch).await?;
        Ok(cycle)
    }

    /// Runs the calls of a turn side by side, and puts the turn and all results into the view together, or not at all.
    ///
    /// The intent of a call that has an effect is durable before the call runs, and each result as soon as it comes. So
    /// after a crash it is known which calls never ran, which finished, and which have an unknown outcome. Calls that must
    /// not run are answered as [`Session::begin_cycle`] says. Once `stop` is ready, no call begins.
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
    /// When the turn contains a value that is not a message or makes no calls, or the store failed. Failures of tools are
    /// in the result.
    pub async fn execute_tool_cycle(
        &mut self,
        turn: &[&str],
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = StopCause> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        self.run_turn(NewTurn::of(turn), executor, stop).await
    }

    /// Runs the calls of a streamed response, as [`Session::execute_tool_cycle`] does those of messages. Calls that must
    /// not run are kept as the policy says, and their results tell the model why.
    ///
    /// # Errors
    /// As for [`Session::execute_tool_cycle`].
    pub async fn execute_response(
        &mut self,
        response: &Response,
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = StopCause> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        let (messages, refused) = response.turn();
        self.run_turn(NewTurn { messages: &messages, refused }, executor, stop).await
    }

    async fn run_turn(
        &mut self,
        turn: NewTurn<'_>,
        executor: &dyn ToolExecutor,
        stop: impl Future<Output = StopCause> + Send,
    ) -> Result<ToolCycleResult, SessionError> {
        let (mut run, calls) = Run::begin(self, turn, executor).await?;
        let end = run.run(&calls, stop).await?;
        run.end(end).await
    }

    /// Records the result of a call.
    ///
    /// # Errors
    /// When the cycle has no such call, the call has a result, it has an effect and was never
    /// [started](Self::before_tool_call), the result is too large to be kept with the others, or the store failed.
    pub async fn finish_call(
        &mut self,
        cycle: &CycleId,
        call: &CallId,
        output: &ToolOutput,
    ) -> Result<(), SessionError> {
        self.settle().await?;
        let call = self.facts().recorded_id(cycle, call);
        self.facts().check_finish(cycle, &call)?;
        let staged = plan_output(self.facts().open_cycle(cycle)?, &call, output)?;
        self.write(Record::Staged(staged).into()).await
    }

    /// Commits a cycle: the turn and all results are in the view from now on. Messages that were appended since the turn
    /// was begun are after them then.
    ///
    /// # Errors
    /// When there is no such cycle, a call of it has no result, or the store failed. The cycle stays open then.
    pub async fn commit_cycle(&mut self, cycle: &CycleId) -> Result<Vec<CycleOutcome>, SessionError> {
        self.settle().await?;
        self.close_cycle(cycle, Close::Complete).await
    }

    /// Rolls a cycle back: its turn never enters the view. The effects of its tools stay: the incident has the number of
    /// calls that had started, and [`Session::repair_context`] lists them. [`Session::undo_cycle`] also undoes what can be
    /// undone.
    ///
    /// # Errors
    /// When there is no such cycle, or the store failed.
    pub async fn roll_back_cycle(&mut self, cycle: &CycleId, reason: &str) -> Result<(), SessionError> {
        self.settle().await?;
        let open = self.facts().open_cycle(cycle)?.clone();
        roll_back(self, &open, reason).await
    }

    /// Rolls a cycle back and [undoes](ToolExecutor::compensate) the calls that can be undone, the last one first. The
    /// intent to undo them is durable before, and the outcome of each after it. Gives the number of calls that could not
    /// be undone.
    ///
    /// # Errors
    /// When there is no such cycle, or the store failed.
    pub async fn undo_cycle(
        &mut self,
        cycle: &CycleId,
        reason: &str,
        executor: &dyn ToolExecutor,
    ) -> Result<usize, SessionError> {
        self.settle().await?;
        let open = self.facts().open_cycle(cycle)?.clone();
        let turn = &self.wire.read_open(&open)?;
        roll_back_and_undo(self, &open, reason, Undoer { executor, turn }).await
    }

    /// Plans and writes the end of an open cycle.
    pub(super) async fn close_cycle(
        &mut self,
        cycle: &CycleId,
        close: Close<'_>,
    ) -> Result<Vec<CycleOutcome>, SessionError> {
        let turn = self.wire.read_open(self.facts().open_cycle(cycle)?)?;
        self.close_read_cycle(cycle, &turn, close).await
    }

    /// Plans and writes the end of an open cycle whose turn is read already.
    pub(super) async fn close_read_cycle(
        &mut self,
        cycle: &CycleId,
        turn: &ToolTurn,
        close: Close<'_>,
    ) -> Result<Vec<CycleOutcome>, SessionError> {
        let facts = self.facts();
        let (batch, outcomes) = facts.plan_close(facts.open_cycle(cycle)?, turn, close, Keeping::Cycle)?;
        self.write(batch).await?;
        Ok(outcomes)
    }
}

/// A random number: it makes the id of a cycle differ from every other, even in a copy of the session.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}
