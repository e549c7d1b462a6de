//! The hooks: the places where a host calls the session. Each is a method that takes values and says what to do.

use seamline_store::{
    CallId, CheckpointId, CycleId, Effect, Entry, Incident, IncidentKind, IncidentSeverity, Operation, Raw, Record,
};

use crate::Severity;
use crate::classify::Failure;
use crate::outline::OutlineKind;
use crate::policy::{OnInvalid, UnansweredCall};
use crate::session::cycle::begin::NewTurn;
use crate::session::cycle::call::is_finished;
use crate::session::cycle::run::{NOT_RUN, TOOL_FAILED, failure_output};
use crate::session::facts::{Batch, Facts};
use crate::session::{
    CycleOutcome, ErrorRecovery, ExecutorFailure, OnFailure, Request, Session, SessionError, ToolOutput, Unresolved,
    ValidationResult,
};
use crate::stream::{RefusedCall, Response};

/// The outcome of [`Session::session_start`].
///
/// ```
/// use std::sync::Arc;
/// use seamline::session::{Session, SessionOptions};
/// use seamline::store::MemoryStore;
///
/// # futures_executor::block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
/// assert!(session.session_start().await?.validation.valid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct SessionStart {
    /// The validation of the stored messages, after the repair if there was one.
    pub validation: ValidationResult,
    /// Whether the messages needed a repair that the policy allows. The hook makes it where
    /// [`on_invalid`](crate::policy::OnInvalid) is `repair` and no cycle is open; else [`Session::repair`] makes it.
    pub repair_offered: bool,
    /// The calls of open cycles, where the session was opened without a recovery. [`Session::recover`] closes them.
    pub unresolved: Vec<Unresolved>,
}

/// Whether the host may send a request.
#[derive(Debug, Clone)]
pub enum AgentStart {
    /// Send this body. Give the response to [`Session::agent_end`], or to [`Session::begin_cycle`] where it makes calls.
    Proceed {
        /// The request to send as it is.
        request: Box<Request>,
        /// The rollback target for an error; none where integrity is
        /// [switched off](crate::session::SessionPolicy::enabled).
        checkpoint: Option<CheckpointId>,
    },
    /// Send nothing. The session closed open calls and took the inbox in, as before every request, and changed nothing
    /// else; it made no checkpoint. There are two reasons:
    ///
    /// - The stored messages are broken, and [`on_invalid`](crate::policy::OnInvalid) is `offer` or `block`. The result has
    ///   the errors, as [`Session::validate`] gives them, and an incident is recorded.
    /// - The stored messages are valid or repaired, and yet the policy does not allow a fix that the provider demands. The
    ///   result has the errors that are left.
    Blocked {
        /// The errors of the conversation.
        validation: ValidationResult,
        /// Whether [`Session::repair`] helps. Show the errors to the user, call it, and ask again: the session then
        /// proceeds. [`persist_repairs`](crate::session::SessionPolicy::persist_repairs) decides which part of the repair
        /// is recorded; each request makes the rest. Where no repair is offered, use another policy or remove messages
        /// ([`Session::rollback`], [`Session::reset`]).
        repair_offered: bool,
    },
}

/// The outcome of [`Session::before_tool_call`]: the tool may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStart {
    /// The idempotency key of the call.
    pub key: String,
}

/// The end of a turn of the model.
#[derive(Debug, Clone, Copy)]
pub enum TurnEnd<'a> {
    /// A response that makes no calls. Give one that makes calls to [`Session::begin_cycle`] or
    /// [`Session::execute_tool_cycle`] instead.
    Answer(&'a [&'a str]),
    /// A streamed response of which no call may run. Give one with calls that may run to [`Session::begin_response`] or
    /// [`Session::execute_response`] instead.
    Response(&'a Response),
    /// An error, in a stream or instead of one. No part of the response becomes a message. `docs/sessions.md` says which
    /// failure to give for a stream.
    Failed(Failure<'a>),
}

/// The outcome of [`Session::agent_end`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEnd {
    /// The response is in the view.
    Committed,
    /// The response failed, and the session did this.
    Recovered(ErrorRecovery),
}

impl Session {
    /// Call this when a session was opened: validates it, and offers a repair or makes it. Nothing is sent or run.
    ///
    /// # Errors
    /// When the conversation cannot be read in its dialect, or the store failed.
    pub async fn session_start(&mut self) -> Result<SessionStart, SessionError> {
        self.settle().await?;
        if !self.wire.config().validate_on_start {
            let validation = ValidationResult { valid: true, ..ValidationResult::default() };
            return Ok(SessionStart { validation, repair_offered: false, unresolved: self.unresolved() });
        }
        let mut validation = self.validate()?;
        // Requests correct ids that repeat, so these need no repair.
        let on_invalid = self.wire.repairs().on_invalid;
        let repairs = matches!(on_invalid, OnInvalid::Repair | OnInvalid::Offer);
        let repair_offered = repairs && !self.validate_to_send()?.valid;
        if repair_offered && on_invalid == OnInvalid::Repair && self.state.cycles.is_empty() {
            self.record_invalid(&validation).await?;
            self.repair().await?;
            validation = self.validate()?;
        }
        Ok(SessionStart { validation, repair_offered, unresolved: self.unresolved() })
    }

    /// Call this before each request: closes open calls as [`Session::recover`] does, takes the inbox in, validates, makes a
    /// checkpoint, and gives the body to send. A compaction, if there is one, comes first.
    ///
    /// The session cannot know whether a tool still runs: call this when none does. The result of a call that runs on goes
    /// to [`Session::late_result`].
    ///
    /// # Errors
    /// When the envelope is not a JSON object or has messages of its own, the conversation cannot be read, or the store
    /// failed. A broken conversation is [`AgentStart::Blocked`], not an error.
    pub async fn before_agent_start(&mut self, envelope: &str) -> Result<AgentStart, SessionError> {
        if !self.wire.config().enabled {
            self.take_inbox().await?;
            let request = Box::new(self.request(envelope)?);
            return Ok(AgentStart::Proceed { request, checkpoint: None });
        }
        self.recover(None).await?;
        self.take_inbox().await?;
        if let Some(validation) = self.facts().plan_unresolved() {
            return Ok(AgentStart::Blocked { validation, repair_offered: false });
        }
        if self.wire.config().validate_before_call {
            self.roll_back_unanswered(envelope).await?;
            let validation = self.validate_to_send_with(envelope)?;
            if !validation.valid
                && let Some(blocked) = self.handle_invalid(envelope, validation).await?
            {
                return Ok(blocked);
            }
        }
        let request = Box::new(self.request(envelope)?);
        if !request.sendable {
            let wrong = request.remaining.iter().filter(|found| found.severity == Severity::Error);
            let sent = crate::outline(&request.body, &self.wire.options, 0..usize::MAX).unwrap_or_default();
            let validation = ValidationResult::of(&wrong.collect::<Vec<_>>(), &sent);
            return Ok(AgentStart::Blocked { validation, repair_offered: false });
        }
        let (batch, checkpoint) = self.facts().plan_request();
        self.write_checkpoint(batch).await?;
        Ok(AgentStart::Proceed { request, checkpoint: Some(checkpoint) })
    }

    /// Rolls back to the last open checkpoint where the policy does so for a call without a result.
    async fn roll_back_unanswered(&mut self, envelope: &str) -> Result<(), SessionError> {
        let repairs = self.wire.repairs();
        if (repairs.unanswered_call, repairs.on_invalid) != (UnansweredCall::Rollback, OnInvalid::Repair) {
            return Ok(());
        }
        let incomplete = self.validate_to_send_with(envelope)?.incomplete_ids;
        match self.facts().plan_roll_back_unanswered(&incomplete)? {
            Some(batch) => self.write(batch).await,
            None => Ok(()),
        }
    }

    /// Does what the policy says about a conversation that is not valid, and says if it blocks the request.
    async fn handle_invalid(
        &mut self,
        envelope: &str,
        validation: ValidationResult,
    ) -> Result<Option<AgentStart>, SessionError> {
        let on_invalid = self.wire.repairs().on_invalid;
        let is_accepted = validation.errors.iter().all(|error| self.work.left_to_requests.contains(error));
        if on_invalid == OnInvalid::Offer && is_accepted {
            return Ok(None);
        }
        self.record_invalid(&validation).await?;
        let repair_offered = match on_invalid {
            OnInvalid::Repair => {
                self.repair().await?;
                return Ok(None);
            }
            OnInvalid::Warn => return Ok(None),
            // A request makes every repair that the policy allows.
            OnInvalid::Offer => self.request(envelope)?.sendable,
            OnInvalid::Block => false,
        };
        Ok(Some(AgentStart::Blocked { validation, repair_offered }))
    }

    /// Call this before each tool call: makes its intent durable, unless the call only reads, and gives the idempotency key.
    ///
    /// # Errors
    /// When there is no such cycle or call, the call has a result, it was started before and may not run again, or the
    /// store failed. Then the tool must not run.
    pub async fn before_tool_call(
        &mut self,
        cycle: impl Into<CycleId>,
        call: impl Into<CallId>,
    ) -> Result<ToolStart, SessionError> {
        let (cycle, call) = (cycle.into(), call.into());
        self.settle().await?;
        self.start_call(&cycle, &call).await?;
        Ok(ToolStart { key: self.facts().key(&cycle, &call) })
    }

    /// Call this after each tool call: records its result, and commits the cycle with the last one. Where a failure is
    /// [configured](crate::session::SessionPolicy::on_tool_error) to roll the cycle back, it does, and gives no outcomes.
    ///
    /// `None` means that other calls of the cycle have no result yet.
    ///
    /// # Errors
    /// When there is no such cycle or call, the call has a result, it has an effect and was never started, the result is too
    /// large to be kept with the others, or the store failed. The cycle stays open then, and [`Session::abort`] closes it.
    pub async fn after_tool_call(
        &mut self,
        cycle: impl Into<CycleId>,
        call: impl Into<CallId>,
        output: &ToolOutput,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        let rolls_back = output.is_error && self.wire.config().on_tool_error == OnFailure::Rollback;
        self.after_call(&cycle.into(), &call.into(), output, rolls_back.then_some(TOOL_FAILED)).await
    }

    /// Call this after a tool could not be run: the model reads why, or the cycle is rolled back where that is
    /// [configured](crate::session::SessionPolicy::on_executor_failure), as [`Session::after_tool_call`] does it.
    ///
    /// # Errors
    /// As for [`Session::after_tool_call`].
    pub async fn after_tool_failure(
        &mut self,
        cycle: impl Into<CycleId>,
        call: impl Into<CallId>,
        failure: &ExecutorFailure,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        let rolls_back = self.wire.config().on_executor_failure == OnFailure::Rollback;
        self.after_call(&cycle.into(), &call.into(), &failure_output(failure), rolls_back.then_some(NOT_RUN)).await
    }

    async fn after_call(
        &mut self,
        cycle: &CycleId,
        call: &CallId,
        output: &ToolOutput,
        rollback: Option<&str>,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        self.settle().await?;
        self.facts().check_finish(cycle, call)?;
        if let Some(reason) = rollback.filter(|_| self.wire.config().enabled) {
            self.roll_back_cycle(cycle, reason).await?;
            return Ok(Some(Vec::new()));
        }
        self.finish_call(cycle, call, output).await?;
        if self.facts().open_cycle(cycle)?.calls.iter().all(is_finished) {
            return self.commit_cycle(cycle).await.map(Some);
        }
        Ok(None)
    }

    /// Call this when a turn of the model has ended: keeps the response and commits its checkpoint, or handles the error. A
    /// response with calls goes to [`Session::begin_cycle`] instead, unless none of them may run: then the model reads why.
    ///
    /// # Errors
    /// When the response has calls that may run or a value that is not a message, the conversation cannot be read, or the
    /// store failed: then nothing of the response is kept.
    pub async fn agent_end(&mut self, end: TurnEnd<'_>) -> Result<AgentEnd, SessionError> {
        let streamed;
        let turn = match end {
            TurnEnd::Failed(failure) => return Ok(AgentEnd::Recovered(self.handle_error(&failure).await?)),
            TurnEnd::Answer(messages) => NewTurn::of(messages),
            TurnEnd::Response(response) => {
                streamed = response.messages();
                NewTurn { messages: &streamed, refused: response.refused() }
            }
        };
        let response = self.wire.parse_messages(turn.messages)?;
        self.settle().await?;
        self.work.has_restarted = false;
        if self.wire.config().enabled && self.facts().has_only_unrunnable_calls(&response, turn.refused)? {
            self.keep_unrunnable(turn).await?;
            return Ok(AgentEnd::Committed);
        }
        let done = if self.wire.config().enabled { self.facts().plan_response_arrived() } else { Vec::new() };
        let said = response.into_iter().map(|message| self.facts().said(message));
        let records = said.chain(done).collect();
        self.write(Batch::of(records)).await?;
        Ok(AgentEnd::Committed)
    }

    /// Keeps a response whose calls must not run, with results that say why.
    async fn keep_unrunnable(&mut self, turn: NewTurn<'_>) -> Result<(), SessionError> {
        let (cycle, _) = self.begin_turn(turn, &|_| Effect::default()).await?;
        if let Err(error) = self.commit_cycle(&cycle).await {
            // The host may give it once more. Where this fails, too, the next request rolls it back.
            let _ = self.roll_back_cycle(&cycle, "the response could not be kept").await;
            return Err(error);
        }
        Ok(())
    }

    async fn record_invalid(&mut self, validation: &ValidationResult) -> Result<(), SessionError> {
        match self.facts().plan_invalid(validation) {
            Some(incident) => self.write(incident.into()).await,
            None => Ok(()),
        }
    }
}

impl Facts<'_> {
    /// Plans the checkpoint of a request. Only one of them is open at a time: a new request ends the last one.
    fn plan_request(&self) -> (Batch, CheckpointId) {
        let mut records = self.plan_response_arrived();
        let (checkpoint, made) = self.plan_checkpoint(Operation::ApiCall);
        records.extend(made);
        (Batch::of(records), checkpoint)
    }

    /// Whether a response makes calls of which none may run.
    fn has_only_unrunnable_calls(&self, response: &[Raw], refused: &[RefusedCall]) -> Result<bool, SessionError> {
        // A response that cannot be read makes no calls that could run.
        let Ok(mut turn) = self.wire.read_turn(response.to_vec()) else { return Ok(false) };
        turn.refuse(refused);
        match turn.runnable().count() {
            0 => Ok(!turn.calls.is_empty()),
            calls => Err(SessionError::OpenCalls { calls }),
        }
    }

    /// The errors of the calls that the policy leaves open, where there are any: no request is made then.
    fn plan_unresolved(&self) -> Option<ValidationResult> {
        let calls = self.state.cycles.iter().flat_map(|cycle| &cycle.calls).filter(|call| !is_finished(call));
        let incomplete_ids: Vec<String> = calls.map(|call| call.id.to_string()).collect();
        if incomplete_ids.is_empty() {
            return None;
        }
        let errors: Vec<String> = incomplete_ids.iter().map(|id| format!("Incomplete tool_use: {id}")).collect();
        let error = errors.first().cloned();
        Some(ValidationResult { error, errors, incomplete_ids, ..ValidationResult::default() })
    }

    /// Plans the rollback of these calls without a result, if all of them came since the last open checkpoint.
    fn plan_roll_back_unanswered(&self, incomplete: &[String]) -> Result<Option<Batch>, SessionError> {
        let Some(target) = self.rollback_target().filter(|_| !incomplete.is_empty()) else { return Ok(None) };
        let removed = self.since(&target.id)?.removed;
        let entries: Vec<&Entry> = removed.iter().filter_map(|at| self.entries().get(*at)).collect();
        let outline = self.wire.outline_each(&entries)?;
        let blocks = outline.iter().flat_map(|message| &message.blocks);
        let ids: Vec<&str> =
            blocks.filter(|block| block.kind == OutlineKind::Call).filter_map(|block| block.id.as_deref()).collect();
        if !incomplete.iter().all(|id| ids.contains(&id.as_str())) {
            return Ok(None);
        }
        let (batch, _) = self.plan_rollback_response(&target.id, "a tool call has no result", Vec::new())?;
        Ok(Some(batch))
    }

    /// Plans the incident about a broken conversation, unless it is the last one already.
    fn plan_invalid(&self, validation: &ValidationResult) -> Option<Record> {
        let count = validation.errors.len();
        let detail = format!("the conversation has {count} errors");
        let is_known = |last: &Incident| last.kind == IncidentKind::ValidationFailed && last.detail == detail;
        if self.state.incidents.back().is_some_and(is_known) {
            return None;
        }
        let mut incident = self.incident(IncidentKind::ValidationFailed, IncidentSeverity::Warning, detail);
        incident.count = count as u64;
        Some(Record::Incident(incident))
    }
}
