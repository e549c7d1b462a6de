//! The places where a host calls in, each a method that takes values and says what to do.

use std::ops::Range;

use seamline_store::{Effect, Incident, IncidentKind, IncidentSeverity, Operation, Raw, Record};

use super::running::{NOT_RUN, TOOL_FAILED, told};
use super::{
    CycleOutcome, ErrorRecovery, ExecutorFailure, OnFailure, Request, Session, SessionError, ToolOutput, Unresolved,
    ValidationResult, said,
};
use crate::{Failure, Severity};

/// What a host should know when a session was loaded.
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
    /// Whether what is kept is whole, after the repair where one was made.
    pub validation: ValidationResult,
    /// Whether something was wrong that a repair is for. It was made where
    /// [`auto_repair`](super::IntegrityConfig::auto_repair) is on and no cycle is open; else [`Session::repair`] makes it.
    pub repair_offered: bool,
    /// Calls of cycles that are not whole, where the session was opened without recovering them. [`Session::recover`]
    /// closes them.
    pub unresolved: Vec<Unresolved>,
}

/// Whether the provider may be asked.
///
/// ```
/// use seamline::session::{AgentStart, ValidationResult};
///
/// let blocked = AgentStart::Blocked(ValidationResult::default());
/// assert!(matches!(blocked, AgentStart::Blocked(_)));
/// ```
#[derive(Debug, Clone)]
pub enum AgentStart {
    /// It may: with this body, and this checkpoint to come back to. [`Session::agent_end`] is told how it went, or
    /// [`Session::begin_cycle`] where the answer makes calls.
    Proceed {
        /// What is sent. It may be sent as it is.
        request: Box<Request>,
        /// What is gone back to when it goes wrong; none where the session is only kept
        /// ([`enabled`](super::IntegrityConfig::enabled)).
        checkpoint: Option<String>,
    },
    /// It may not, and nothing is to be sent. Nothing of what is kept was changed but what comes first in any case: open
    /// calls were closed and the inbox was taken in. No checkpoint was made. There are two reasons:
    ///
    /// - What is kept is broken, and the configuration says not to mend it without asking. The result says what is wrong,
    ///   as [`Session::validate`] does, and that is an incident. Show it to somebody and call [`Session::repair`], or open
    ///   the session with [`auto_repair`](super::IntegrityConfig::auto_repair); then ask again. What only a made-up result
    ///   can mend is written down where [`persist_repairs`](super::IntegrityConfig::persist_repairs) is
    ///   [`All`](super::PersistRepairs::All); with [`validate_before_call`](super::IntegrityConfig::validate_before_call)
    ///   off it is left to the request, which makes it up each time.
    /// - What is kept was put right or needed no repair, and yet the policy may not do what the provider demands. The
    ///   result says what is left. Another policy may, or somebody has to take messages out
    ///   ([`Session::rollback`], [`Session::reset`]).
    Blocked(ValidationResult),
}

/// Whether a tool may be run.
///
/// ```
/// let start = seamline::session::ToolStart { key: "k_1".to_owned() };
/// assert_eq!(start.key, "k_1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStart {
    /// What makes two runs of the call the same for a tool that can tell.
    pub key: String,
}

/// How a turn of the model ended.
///
/// ```
/// assert!(matches!(seamline::session::TurnEnd::Answer(&[]), seamline::session::TurnEnd::Answer(_)));
/// ```
#[derive(Debug, Clone, Copy)]
pub enum TurnEnd<'a> {
    /// With these messages, which make no calls. One that makes some is given to [`Session::begin_cycle`] or
    /// [`Session::execute_tool_cycle`] instead.
    Answer(&'a [&'a str]),
    /// With an error, in a stream or instead of one. Nothing that came of it becomes a message. What to give as the
    /// failure of a stream is in `docs/sessions.md`.
    Failed(Failure<'a>),
}

/// What became of a turn.
///
/// ```
/// assert_eq!(seamline::session::AgentEnd::Committed, seamline::session::AgentEnd::Committed);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEnd {
    /// It is kept.
    Committed,
    /// It is not; this was done.
    Recovered(ErrorRecovery),
}

impl Session {
    /// When a session was loaded: checks it, and offers a repair or makes it. Nothing is sent or run.
    ///
    /// # Errors
    /// When the conversation cannot be read in its dialect, or the store could not keep the repair.
    pub async fn session_start(&mut self) -> Result<SessionStart, SessionError> {
        self.settle().await?;
        let mut validation = self.validate()?;
        // Ids that repeat are put right in what is sent.
        let repair_offered = !self.validate_to_send()?.valid;
        if repair_offered && self.config.auto_repair && self.state.cycles.is_empty() {
            self.note_invalid(&validation).await?;
            self.repair().await?;
            validation = self.validate()?;
        }
        Ok(SessionStart { validation, repair_offered, unresolved: self.unresolved() })
    }

    /// Before the provider is asked: closes calls that are left open as [`Session::recover`] does, takes in what others
    /// sent, checks, makes a checkpoint, and gives the body to send. Compaction, if there is one, comes first.
    ///
    /// Whether a tool still runs cannot be known here: call it when none does. A call that runs on has its result taken
    /// by [`Session::late_result`].
    ///
    /// # Errors
    /// When the envelope is no JSON object or has messages of its own, the conversation cannot be read, or the store could
    /// not keep something. That a conversation is broken is no error but [`AgentStart::Blocked`].
    pub async fn before_agent_start(&mut self, envelope: &str) -> Result<AgentStart, SessionError> {
        if !self.config.enabled {
            self.take_inbox().await?;
            let request = Box::new(self.request(envelope)?);
            return Ok(AgentStart::Proceed { request, checkpoint: None });
        }
        self.close_cycles().await?;
        self.take_inbox().await?;
        if self.config.validate_before_call {
            let validation = self.validate_to_send_with(envelope)?;
            if !validation.valid {
                self.note_invalid(&validation).await?;
                if !self.config.auto_repair {
                    return Ok(AgentStart::Blocked(validation));
                }
                self.repair().await?;
            }
        }
        let request = Box::new(self.request(envelope)?);
        if !request.sendable {
            let wrong = request.remaining.iter().filter(|found| found.severity == Severity::Error);
            let sent = crate::outline(&request.body, &self.wire.options, 0..usize::MAX).unwrap_or_default();
            return Ok(AgentStart::Blocked(ValidationResult::of(&wrong.collect::<Vec<_>>(), &sent)));
        }
        // Of what is made for asking, one at a time is open: whoever asks again is done with the last time.
        let mut records = self.answered_records();
        let (checkpoint, made) = self.making(Operation::ApiCall);
        records.extend(made);
        self.write(records).await?;
        Ok(AgentStart::Proceed { request, checkpoint: Some(checkpoint) })
    }

    /// Before a tool is run: what it is about to do is written down, unless it only reads.
    ///
    /// # Errors
    /// As [`Session::start_call`], which it is: when there is no such cycle or call, the call has a result, it was begun
    /// before and may not be run again, or the store could not keep it. Then the tool must not be run.
    pub async fn before_tool_call(&mut self, cycle: &str, call: &str) -> Result<ToolStart, SessionError> {
        Ok(ToolStart { key: self.start_call(cycle, call).await? })
    }

    /// After a tool was run: its result is written down, and once all of the cycle are there, it is made whole and its
    /// outcomes are given. Where a failure is [configured](super::IntegrityConfig::on_tool_error) to take the cycle back,
    /// it is, and no outcomes are left of it.
    ///
    /// Nothing means that other calls of the cycle have no result yet.
    ///
    /// # Errors
    /// When there is no such cycle or call, the call has a result, it was never begun although it does something to the
    /// world, the result is too large to be kept with the others, or the store could not keep it. Then the cycle is as
    /// open as before, and [`Session::abort`] closes it.
    pub async fn after_tool_call(
        &mut self,
        cycle: &str,
        call: &str,
        output: &ToolOutput,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        let goes_back = output.is_error && self.config.on_tool_error == OnFailure::Rollback;
        self.after_call(cycle, call, output, goes_back.then_some(TOOL_FAILED)).await
    }

    /// After a tool that was to be run could not be: the model is told, or where that is
    /// [configured](super::IntegrityConfig::on_executor_failure) the cycle is taken back, as [`Session::after_tool_call`]
    /// does it.
    ///
    /// # Errors
    /// As for [`Session::after_tool_call`].
    pub async fn after_tool_failure(
        &mut self,
        cycle: &str,
        call: &str,
        failure: &ExecutorFailure,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        let goes_back = self.config.on_executor_failure == OnFailure::Rollback;
        self.after_call(cycle, call, &told(failure), goes_back.then_some(NOT_RUN)).await
    }

    async fn after_call(
        &mut self,
        cycle: &str,
        call: &str,
        output: &ToolOutput,
        goes_back: Option<&str>,
    ) -> Result<Option<Vec<CycleOutcome>>, SessionError> {
        self.settle().await?;
        self.may_finish(cycle, call)?;
        if let Some(reason) = goes_back.filter(|_| self.config.enabled) {
            self.roll_back_cycle(cycle, reason).await?;
            return Ok(Some(Vec::new()));
        }
        self.finish_call(cycle, call, output).await?;
        let open = self.open_cycle(cycle)?;
        if open.calls.iter().all(super::cycle::is_finished) {
            return self.commit_cycle(cycle).await.map(Some);
        }
        Ok(None)
    }

    /// Before messages are replaced by a summary: see [`Session::begin_compaction`].
    ///
    /// # Errors
    /// As there: when tools are running, a compaction is going on, the range is none of the messages, or the store could
    /// not keep it.
    pub async fn before_compaction(&mut self, range: Range<usize>) -> Result<Range<usize>, SessionError> {
        self.begin_compaction(range).await
    }

    /// When a turn of the model has ended: its answer is kept and the checkpoint committed, or what went wrong is
    /// handled. An answer with calls is not given here but to [`Session::begin_cycle`], unless none of them is to be run:
    /// then the model is told why.
    ///
    /// # Errors
    /// When the answer has calls that are to be run or something that is no message, the conversation cannot be read, or
    /// the store could not keep something: then nothing of the answer is kept.
    pub async fn agent_end(&mut self, end: TurnEnd<'_>) -> Result<AgentEnd, SessionError> {
        match end {
            TurnEnd::Failed(failure) => Ok(AgentEnd::Recovered(self.handle_error(&failure).await?)),
            TurnEnd::Answer(messages) => {
                let answer = self.messages_of(messages)?;
                self.settle().await?;
                if self.config.enabled && self.tells_calls(messages, &answer).await? {
                    return Ok(AgentEnd::Committed);
                }
                let done = if self.config.enabled { self.answered_records() } else { Vec::new() };
                self.write(answer.into_iter().map(said).chain(done).collect()).await?;
                Ok(AgentEnd::Committed)
            }
        }
    }

    /// Keeps an answer whose calls must not be run, with results that say so, and says whether it was one.
    async fn tells_calls(&mut self, messages: &[&str], answer: &[Raw]) -> Result<bool, SessionError> {
        // What cannot be read makes no calls that anybody could run.
        let calls = self.wire.not_run(answer).unwrap_or_default();
        let open = calls.iter().filter(|not_run| not_run.is_none()).count();
        if open > 0 {
            return Err(SessionError::OpenCalls { calls: open });
        }
        if calls.is_empty() {
            return Ok(false);
        }
        let (cycle, _) = self.begin_cycle(messages, &|_| Effect::default()).await?;
        if let Err(error) = self.commit_cycle(&cycle).await {
            // It may be given once more. Where this fails, too, the next turn takes it back.
            let _ = self.roll_back_cycle(&cycle, "the answer could not be kept").await;
            return Err(error);
        }
        Ok(true)
    }

    async fn note_invalid(&mut self, validation: &ValidationResult) -> Result<(), SessionError> {
        let count = validation.errors.len();
        let detail = format!("{count} things were wrong with the conversation");
        let is_known = |last: &Incident| last.kind == IncidentKind::ValidationFailed && last.detail == detail;
        if self.incidents().next_back().is_some_and(is_known) {
            return Ok(());
        }
        let mut incident = self.incident(IncidentKind::ValidationFailed, IncidentSeverity::Warning, detail);
        incident.count = count as u64;
        self.write(vec![Record::Incident(incident)]).await
    }
}
