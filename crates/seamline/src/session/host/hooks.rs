//! Plans the hooks: what a session does where its host calls it.

use seamline_store::{CallId, CheckpointId, Entry, Incident, IncidentKind, IncidentSeverity, Operation, Raw, Record};

use crate::Severity;
use crate::classify::Failure;
use crate::outline::OutlineKind;
use crate::policy::{OnInvalid, UnansweredCall};
use crate::session::cycle::begin::NewTurn;
use crate::session::cycle::call::is_finished;
use crate::session::cycle::roll_back::UNANSWERED;
use crate::session::facts::{Batch, Facts};
use crate::session::repair::Validated;
use crate::session::wire::ToolTurn;
use crate::session::{ErrorRecovery, Request, SessionError, Unresolved, ValidationResult};
use crate::stream;

/// The outcome of [`Session::session_start`](crate::session::Session::session_start).
#[derive(Debug, Clone)]
pub struct SessionStart {
    /// The validation of the stored messages, after the repair if there was one; none where
    /// [`validate_on_start`](crate::session::SessionPolicy::validate_on_start) is off.
    pub validation: Option<ValidationResult>,
    /// Whether the messages needed a repair that the policy allows. The hook makes it where
    /// [`on_invalid`](crate::policy::OnInvalid) is `repair` and no cycle is open; else [`Session::repair`](crate::session::Session::repair) makes it.
    pub repair_offered: bool,
    /// The calls of open cycles, where the session was opened without a recovery. [`Session::recover`](crate::session::Session::recover) closes them.
    pub unresolved: Vec<Unresolved>,
}

/// Whether the host may send a request.
#[derive(Debug, Clone)]
pub enum AgentStart {
    /// Send this body. Give the response to [`Session::agent_end`](crate::session::Session::agent_end), or to [`Session::begin_cycle`](crate::session::Session::begin_cycle) where it makes calls.
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
    ///   the errors, as [`Session::validate`](crate::session::Session::validate) gives them, and an incident is recorded.
    /// - The stored messages are valid or repaired, and yet the policy does not allow a fix that the provider demands. The
    ///   result has the errors that are left.
    Blocked {
        /// The errors of the conversation.
        validation: ValidationResult,
        /// Whether [`Session::repair`](crate::session::Session::repair) helps. Show the errors to the user, call it, and ask again: the session then
        /// proceeds. [`persist_repairs`](crate::session::SessionPolicy::persist_repairs) decides which part of the repair
        /// is recorded; each request makes the rest. Where no repair is offered, use another policy or remove messages
        /// ([`Session::rollback`](crate::session::Session::rollback), [`Session::reset`](crate::session::Session::reset)).
        repair_offered: bool,
    },
}

/// The outcome of [`Session::before_tool_call`](crate::session::Session::before_tool_call): the tool may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStart {
    /// The idempotency key of the call.
    pub key: String,
}

/// The end of a turn of the model.
#[derive(Debug, Clone, Copy)]
pub enum TurnEnd<'a> {
    /// A response that makes no calls. Give one that makes calls to [`Session::begin_cycle`](crate::session::Session::begin_cycle) or
    /// [`Session::execute_tool_cycle`](crate::session::Session::execute_tool_cycle) instead.
    Messages(&'a [&'a str]),
    /// A streamed response whose calls must not run. Pass one with calls that may run to [`Session::begin_response`](crate::session::Session::begin_response) or
    /// [`Session::execute_response`](crate::session::Session::execute_response) instead.
    Response(&'a stream::Response),
    /// An error, in a stream or instead of one. No part of the response becomes a message. `docs/sessions.md` says which
    /// failure to give for a stream.
    Failed(Failure<'a>),
}

/// The outcome of [`Session::agent_end`](crate::session::Session::agent_end).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEnd {
    /// The response is in the view.
    Committed,
    /// The response failed, and the session did this.
    Recovered(ErrorRecovery),
}

/// The effect of a conversation that is not valid on a request.
pub(super) enum OnRequest {
    /// The request is made.
    Send,
    /// The stored messages are repaired, and the request is made.
    Repair,
    /// The request is not made. `offers` says whether the policy offers a repair.
    Block { offers: bool },
}

/// How a response is kept.
pub(super) enum Response {
    /// As plain messages.
    Messages(Batch),
    /// As a cycle whose calls must not run.
    Cycle(Box<ToolTurn>),
}

impl Facts<'_> {
    /// Plans the start of a session. Gives whether a repair is offered, and the records to write before one that is to be made
    /// at once.
    pub(super) fn plan_session_start(&self, validation: &ValidationResult, is_sendable: bool) -> (bool, Option<Batch>) {
        let on_invalid = self.wire.repairs().on_invalid;
        let offered = !is_sendable && matches!(on_invalid, OnInvalid::Repair | OnInvalid::Offer);
        let repairs = offered && on_invalid == OnInvalid::Repair && self.state.cycles.is_empty();
        (offered, repairs.then(|| self.plan_invalid(validation)))
    }

    /// Plans what the policy does before a request about a conversation that may not be valid.
    pub(super) fn plan_validated(&self, validated: &Validated) -> (Batch, OnRequest) {
        let on_invalid = self.wire.repairs().on_invalid;
        if validated.result.valid || (on_invalid == OnInvalid::Offer && self.is_accepted(validated)) {
            return (Batch::default(), OnRequest::Send);
        }
        let then = match on_invalid {
            OnInvalid::Repair => OnRequest::Repair,
            OnInvalid::Warn => OnRequest::Send,
            OnInvalid::Offer => OnRequest::Block { offers: true },
            OnInvalid::Block => OnRequest::Block { offers: false },
        };
        (self.plan_invalid(&validated.result), then)
    }

    /// The errors of the calls that the policy leaves open, where there are any: no request is made then.
    pub(super) fn unresolved_errors(&self) -> Option<ValidationResult> {
        let calls = self.state.cycles.iter().flat_map(|cycle| &cycle.calls).filter(|call| !is_finished(call));
        let incomplete_ids: Vec<CallId> = calls.map(|call| call.id.clone()).collect();
        if incomplete_ids.is_empty() {
            return None;
        }
        let errors: Vec<String> = incomplete_ids.iter().map(|id| format!("Incomplete tool_use: {id}")).collect();
        let error = errors.first().cloned();
        Some(ValidationResult { error, incomplete_ids, errors, ..ValidationResult::default() })
    }

    /// Whether the policy rolls back a call without a result before a request.
    pub(super) fn rolls_back_unanswered(&self) -> bool {
        let repairs = self.wire.repairs();
        repairs.unanswered_call == UnansweredCall::Rollback && repairs.on_invalid == OnInvalid::Repair
    }

    /// Plans the rollback of these calls without a result, if all of them came since the last open checkpoint.
    pub(super) fn plan_roll_back_unanswered(&self, incomplete: &[CallId]) -> Result<Batch, SessionError> {
        let Some(target) = self.rollback_target().filter(|_| !incomplete.is_empty()) else {
            return Ok(Batch::default());
        };
        let removed = self.since(&target.id)?.removed;
        let entries: Vec<&Entry> = removed.iter().filter_map(|at| self.entries().get(*at)).collect();
        let outline = self.wire.outline_each(&entries)?;
        let blocks = outline.iter().flat_map(|message| &message.blocks);
        let calls = blocks.filter(|block| block.kind == OutlineKind::Call);
        let ids: Vec<&str> = calls.filter_map(|block| block.id.as_deref()).collect();
        if !incomplete.iter().all(|id| ids.contains(&id.as_str())) {
            return Ok(Batch::default());
        }
        let (batch, _) = self.plan_rollback_response(&target.id, UNANSWERED, Vec::new())?;
        Ok(batch)
    }

    /// The errors of a request that may not be sent.
    pub(super) fn validate_request(&self, request: &Request) -> ValidationResult {
        let wrong = request.remaining.iter().filter(|found| found.severity == Severity::Error);
        let sent = crate::outline(&request.body, &self.wire.options, 0..usize::MAX).unwrap_or_default();
        ValidationResult::of(&wrong.collect::<Vec<_>>(), &sent)
    }

    /// Plans the checkpoint of a request. Only one of them is open at a time: a new request ends the last one.
    pub(super) fn plan_request(&self) -> (Batch, CheckpointId) {
        let mut records = self.plan_response_arrived();
        let (checkpoint, made) = self.plan_checkpoint(Operation::ApiCall);
        records.extend(made);
        (Batch::of(records), checkpoint)
    }

    /// Plans how a response is kept. A response whose calls may run is refused.
    pub(super) fn plan_response(&self, turn: NewTurn<'_>) -> Result<Response, SessionError> {
        let response = self.wire.parse_messages(turn.messages)?;
        let is_enabled = self.config().enabled;
        if is_enabled && let Some(turn) = self.read_unrunnable(&response, turn.refused)? {
            return Ok(Response::Cycle(Box::new(turn)));
        }
        let mut records: Vec<Record> = response.into_iter().map(|message| self.said(message)).collect();
        if is_enabled {
            records.extend(self.plan_response_arrived());
        }
        Ok(Response::Messages(Batch::of(records)))
    }

    /// Reads a response whose calls must not run. Returns `None` if it makes no calls.
    fn read_unrunnable(
        &self,
        response: &[Raw],
        refused: &[stream::RefusedCall],
    ) -> Result<Option<ToolTurn>, SessionError> {
        // A response that cannot be read makes no calls that could run.
        let Ok(read) = self.wire.read_turn(response.to_vec()) else { return Ok(None) };
        if read.calls.is_empty() {
            return Ok(None);
        }
        let turn = self.adopt_turn(read, refused)?;
        match turn.runnable().count() {
            0 => Ok(Some(turn)),
            calls => Err(SessionError::OpenCalls { calls }),
        }
    }

    /// Plans the incident about a broken conversation, unless it is the last one already.
    fn plan_invalid(&self, validation: &ValidationResult) -> Batch {
        let (kind, count) = (IncidentKind::ValidationFailed, validation.errors.len() as u64);
        let message = validation.first_index.map(|index| index as u64);
        let severity = IncidentSeverity::Warning;
        // Version 0.1 recorded an inbox item in quarantine under this kind, as an error.
        let is_same =
            |last: &Incident| (last.kind, last.severity, last.count, last.message) == (kind, severity, count, message);
        if self.state.incidents.back().is_some_and(is_same) {
            return Batch::default();
        }
        let first = message.map(|at| format!("; the first is in message {at}")).unwrap_or_default();
        let detail = format!("the conversation has {count} errors{first}");
        let incident = self.incident(kind, severity, detail);
        Record::Incident(Incident { count, message, ..incident }).into()
    }
}
