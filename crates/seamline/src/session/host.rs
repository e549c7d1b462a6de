//! The side of a session that faces its host: hooks, errors of the provider, the repair context and the inbox.

pub(super) mod context;
mod errors;
mod hooks;
mod inbox;

use seamline_store::{CallId, CycleId, Effect, Incident, Record};

use super::cycle::begin::NewTurn;
use super::cycle::call::{CallFailure, Planned, TooLarge, apply_result, is_finished};
use super::cycle::close::{Close, Keeping};
use super::cycle::run::write_close;
use super::facts::Batch;
use super::wire::ToolTurn;
use super::{CycleOutcome, ExecutorFailure, PersistRepairs, ResetOptions, Session, SessionError, ToolOutput};
use crate::classify::Failure;
use errors::{End, ProviderError, Reaction};
use hooks::{OnRequest, Response};

pub use context::{LostCall, RepairContext};
pub use errors::{ErrorRecovery, RecoveryAction};
pub use hooks::{AgentEnd, AgentStart, SessionStart, ToolStart, TurnEnd};

impl Session {
    /// The incidents of the session, from the first to the last: the last thousand. Earlier ones are in the log.
    pub fn incidents(&self) -> impl DoubleEndedIterator<Item = &Incident> {
        self.state.incidents.iter()
    }

    /// Records incidents that the host noticed, in one commit.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Session, SessionOptions};
    /// use seamline::store::{Incident, IncidentKind, IncidentSeverity, MemoryStore};
    ///
    /// # futures_executor::block_on(async {
    /// let store = Arc::new(MemoryStore::new());
    /// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
    /// let incident = Incident::new(0, IncidentKind::Timeout, IncidentSeverity::Warning, "no byte for 60 s");
    /// session.record_incidents(vec![incident.clone()]).await?;
    /// assert_eq!(session.incidents().last(), Some(&incident));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// When the store failed.
    pub async fn record_incidents(&mut self, incidents: Vec<Incident>) -> Result<(), SessionError> {
        self.write(Batch::of(incidents.into_iter().map(Record::Incident).collect())).await
    }

    /// The losses and repairs since the session was opened or this was [taken](Self::take_repair_context), and the messages
    /// of the user that have no response.
    pub fn repair_context(&self) -> RepairContext {
        self.facts().repair_context()
    }

    /// Returns the [repair context](Self::repair_context) for a turn that reads it, and starts a new one.
    pub fn take_repair_context(&mut self) -> RepairContext {
        let context = self.repair_context();
        self.work.context = RepairContext::default();
        context
    }

    /// Takes the inbox in, in the order in which messages came and each once, and gives their number. One commit takes up to
    /// [`INBOX_MESSAGES_MAX`](crate::store::INBOX_MESSAGES_MAX) messages and about
    /// [`INBOX_BYTES_MAX`](crate::store::INBOX_BYTES_MAX) bytes; the others come in the next time. A value that is not a
    /// message goes into quarantine, and an incident says so. A damaged message goes into quarantine, too; an incident
    /// says so once.
    ///
    /// # Errors
    /// When the store failed.
    pub async fn take_inbox(&mut self) -> Result<usize, SessionError> {
        self.settle().await?;
        let items = self.log.read_inbox().await?;
        let mut records = self.check_inbox(items.len() as u64).await?;
        let plan = self.facts().plan_inbox(inbox::fitting(&items));
        for message in &plan.quarantined {
            self.log.quarantine(message.as_bytes()).await?;
        }
        records.extend(plan.records);
        self.write(Batch::of(records)).await?;
        Ok(plan.taken)
    }

    /// Looks for damage in the inbox, and gives the incidents about it. All messages are checked at once, and then taken in
    /// before that happens again, so that each is checked about once however many wait.
    async fn check_inbox(&mut self, taken: u64) -> Result<Vec<Record>, SessionError> {
        if self.work.inbox_checked > 0 {
            self.work.inbox_checked = self.work.inbox_checked.saturating_sub(taken.max(1));
            return Ok(Vec::new());
        }
        let waiting = if taken > 0 { self.log.count_inbox().await? } else { 0 };
        let damages = self.facts().new_damages(self.log.check_inbox().await?);
        for damage in damages.iter().filter(|damage| !damage.bytes.is_empty()) {
            self.log.quarantine(&damage.bytes).await?;
        }
        self.work.inbox_checked = waiting.saturating_sub(taken);
        Ok(damages.iter().map(|damage| self.facts().damage_incident(damage)).collect())
    }

    /// Reacts to an error. After a content filter, a timeout or an error of the provider, the session rolls back to the last
    /// open checkpoint, but keeps messages of the user that came since. A conversation that the provider refuses is
    /// repaired. The error is for the user, and never becomes part of the conversation.
    ///
    /// A compaction that is going on is interrupted: messages that came meanwhile stay.
    ///
    /// # Errors
    /// When the conversation cannot be read, or the store failed.
    pub async fn handle_error(&mut self, failure: &Failure<'_>) -> Result<ErrorRecovery, SessionError> {
        self.interrupt_compaction();
        self.settle().await?;
        let error = ProviderError::of(failure);
        let end = match self.facts().plan_error(&error)? {
            Reaction::End(end) => end,
            Reaction::Repair { incident, persist, refused } => {
                self.write(incident.into()).await?;
                self.recover().await?;
                let is_repaired = if refused {
                    self.repair_refused(persist).await?
                } else {
                    self.repair_as(persist).await?.id.is_some()
                };
                self.facts().plan_after_repair(&error, is_repaired)?
            }
        };
        match end {
            End::Recovered(batch, recovery) => self.write(batch).await.map(|()| recovery),
            End::Restart(incident) => {
                self.write(incident.into()).await?;
                let archive = self.reset(ResetOptions { archive: true }).await?.archive;
                self.work.has_restarted = true;
                Ok(error.after_reset(archive))
            }
            End::Reset => Ok(error.after_reset(self.reset(ResetOptions { archive: true }).await?.archive)),
        }
    }

    /// Call this when a session was opened: validates it, and offers a repair or makes it. Nothing is sent or run.
    ///
    /// # Errors
    /// When the conversation cannot be read in its dialect, or the store failed.
    pub async fn session_start(&mut self) -> Result<SessionStart, SessionError> {
        self.settle().await?;
        if !self.wire.config().validate_on_start {
            return Ok(SessionStart { validation: None, repair_offered: false, unresolved: self.unresolved() });
        }
        let mut validation = self.validate()?;
        // Requests correct ids that repeat, so these need no repair.
        let is_sendable = self.validate_to_send()?.result.valid;
        let (repair_offered, repairs) = self.facts().plan_session_start(&validation, is_sendable);
        if let Some(incident) = repairs {
            self.write(incident).await?;
            self.repair().await?;
            validation = self.validate()?;
        }
        Ok(SessionStart { validation: Some(validation), repair_offered, unresolved: self.unresolved() })
    }

    /// Call this before each request: closes open calls as [`Session::recover`] does, takes the inbox in, validates, makes a
    /// checkpoint, and gives the body to send. A compaction, if there is one, comes first.
    ///
    /// The session cannot know whether a tool still runs: call this when none does. The result of a call that runs on goes
    /// to [`Session::add_late_result`].
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
        self.recover().await?;
        self.take_inbox().await?;
        if let Some(validation) = self.facts().unresolved_errors() {
            return Ok(AgentStart::Blocked { validation, repair_offered: false });
        }
        if self.wire.config().validate_before_call {
            if self.facts().rolls_back_unanswered() {
                let incomplete = self.validate_to_send_with(envelope)?.result.incomplete_ids;
                let batch = self.facts().plan_roll_back_unanswered(&incomplete)?;
                self.write(batch).await?;
            }
            let validated = self.validate_to_send_with(envelope)?;
            let (batch, then) = self.facts().plan_validated(&validated);
            self.write(batch).await?;
            match then {
                OnRequest::Send => {}
                OnRequest::Repair if self.wire.config().repair_requests => drop(self.repair().await?),
                // The request adds no synthetic results then, so the stored messages get them.
                OnRequest::Repair => drop(self.repair_as(PersistRepairs::All).await?),
                OnRequest::Block { offers } => {
                    // A request makes every repair that the policy allows.
                    let repair_offered = offers && self.request(envelope)?.sendable;
                    return Ok(AgentStart::Blocked { validation: validated.result, repair_offered });
                }
            }
        }
        let request = Box::new(self.request(envelope)?);
        if !request.sendable {
            let validation = self.facts().validate_request(&request);
            return Ok(AgentStart::Blocked { validation, repair_offered: false });
        }
        let (batch, checkpoint) = self.facts().plan_request();
        self.write_checkpoint(batch).await?;
        Ok(AgentStart::Proceed { request, checkpoint: Some(checkpoint) })
    }

    /// Call this before each tool call: makes its intent durable, unless the call only reads, and gives the idempotency key.
    ///
    /// # Errors
    /// When there is no such cycle or call, the call has a result, it was started before and may not run again, or the
    /// store failed. Then the tool must not run.
    pub async fn before_tool_call(&mut self, cycle: &CycleId, call: &CallId) -> Result<ToolStart, SessionError> {
        self.settle().await?;
        let call = self.facts().recorded_id(cycle, call);
        let intent = self.facts().plan_start(cycle, &call)?;
        self.write(intent).await?;
        Ok(ToolStart { key: self.facts().key(cycle, &call) })
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
        cycle: &CycleId,
        call: &CallId,
        output: &ToolOutput,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        self.after_call(cycle, call, Ok(output.clone())).await
    }

    /// Call this if a tool could not be run. The model reads the reason, or the cycle is rolled back:
    /// [`on_executor_failure`](crate::session::SessionPolicy::on_executor_failure) decides.
    ///
    /// # Errors
    /// As for [`Session::after_tool_call`].
    pub async fn after_tool_failure(
        &mut self,
        cycle: &CycleId,
        call: &CallId,
        failure: &ExecutorFailure,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        self.after_call(cycle, call, Err(CallFailure::Failed(failure.clone()))).await
    }

    async fn after_call(
        &mut self,
        cycle: &CycleId,
        call: &CallId,
        outcome: Result<ToolOutput, CallFailure>,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        self.settle().await?;
        let facts = self.facts();
        let call = &facts.recorded_id(cycle, call);
        facts.check_finish(cycle, call)?;
        let mut open = facts.open_cycle(cycle)?.clone();
        let staged = match facts.plan_outcome(&open, call, outcome, TooLarge::Refuse)? {
            Planned::Result(staged) => staged,
            Planned::RollsBack(failed) => {
                self.roll_back_cycle(cycle, failed.reason).await?;
                return Ok(Some(Vec::new()));
            }
        };
        apply_result(&mut open, &staged);
        let staged = Record::Staged(staged);
        if !open.calls.iter().all(is_finished) {
            return self.write(staged.into()).await.map(|()| None);
        }
        // The last result is committed together with the cycle.
        let planned = self.wire.read_open(&open);
        let planned = planned.and_then(|turn| self.facts().plan_close(&open, &turn, Close::Complete, Keeping::Cycle));
        write_close(self, Some(staged), planned).await.map(Some)
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
            TurnEnd::Messages(messages) => NewTurn::of(messages),
            TurnEnd::Response(response) => {
                streamed = response.turn();
                NewTurn { messages: &streamed.0, refused: streamed.1 }
            }
        };
        self.settle().await?;
        match self.facts().plan_response(turn)? {
            Response::Messages(batch) => self.write(batch).await?,
            Response::Cycle(turn) => self.keep_unrunnable(&turn).await?,
        }
        self.work.has_restarted = false;
        Ok(AgentEnd::Committed)
    }

    /// Keeps a response whose calls must not run, with results that say why.
    async fn keep_unrunnable(&mut self, turn: &ToolTurn) -> Result<(), SessionError> {
        let cycle = self.begin_read_turn(turn, &|_| Effect::default()).await?;
        if let Err(error) = self.close_read_cycle(&cycle, turn, Close::Complete).await {
            // The host may give it once more. Where this fails, too, the next request rolls it back.
            let _ = self.roll_back_cycle(&cycle, "the response could not be kept").await;
            return Err(error);
        }
        Ok(())
    }
}
