//! The reaction of a session to errors of the provider.

use seamline_store::{CheckpointId, IncidentKind, IncidentSeverity, Record};
use serde::Serialize;

use crate::classify;
use crate::classify::{Class, Failure};
use crate::guards::{OnCorruption, filter};
use crate::session::{CorruptCheckpoint, LastResort, PersistRepairs, ResetOptions, Session, SessionError};

/// What the session did about an error.
///
/// ```
/// use seamline::session::{ErrorRecovery, RecoveryAction};
///
/// let recovery = ErrorRecovery { action: RecoveryAction::Escalate, message: "gone".to_owned(), checkpoint: None, class: "fatal", details: None };
/// assert_eq!(serde_json::to_string(&recovery).unwrap(), r#"{"action":"escalate","message":"gone","class":"fatal"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorRecovery {
    /// The action that the session took.
    pub action: RecoveryAction,
    /// The text for the user; it never goes to the provider.
    pub message: String,
    /// The checkpoint of the rollback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// The class of the error.
    pub class: &'static str,
    /// The advice for the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<&'static str>,
}

/// The action that the session took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryAction {
    /// Rolled back to a checkpoint; messages of the user stayed.
    RolledBack,
    /// Repaired the stored messages, which can be sent again.
    Repaired,
    /// Reset the session.
    Reset,
    /// Found no checkpoint; checked the stored messages, and repaired them where that was needed.
    ValidateAndRepair,
    /// Did nothing: the session is not at fault, or cannot be repaired. The message and the
    /// [details](ErrorRecovery::details) say what the host can do.
    Escalate,
}

impl Session {
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
        let filtered = filter(failure).is_some();
        let verdict = classify(failure);
        let class = if filtered { Class::Filter } else { verdict.class };
        if !self.wire.config().enabled {
            let message = format!("{}. The session is only kept.", verdict.meaning);
            return Ok(recovery(RecoveryAction::Escalate, message, None, class));
        }
        if !self.wire.config().recover_on_error {
            return self.leave_to_host(class, error_kind(failure, class), verdict.meaning).await;
        }
        let kind = if is_timeout(failure, class) { IncidentKind::Timeout } else { IncidentKind::ApiError };
        let recovered = match class {
            Class::Filter => self.after_filter(class).await,
            Class::Corruption => self.after_refusal(class, verdict.meaning).await,
            Class::Transient | Class::Overflow | Class::Fatal => self.after_failure(class, kind, verdict.meaning).await,
        };
        // The advice is about the error, not about a filter that the shape of a response revealed.
        let details = Some(verdict.advice).filter(|advice| !filtered && !advice.is_empty());
        recovered.map(|recovery| {
            // The session has already tried to repair the conversation.
            let is_in_vain = class == Class::Corruption && recovery.action == RecoveryAction::Escalate;
            ErrorRecovery { details: details.filter(|_| !is_in_vain), ..recovery }
        })
    }

    /// Records an error, and leaves everything else to the host.
    async fn leave_to_host(
        &mut self,
        class: Class,
        kind: IncidentKind,
        title: &str,
    ) -> Result<ErrorRecovery, SessionError> {
        let incident = self.facts().incident(kind, IncidentSeverity::Warning, title);
        self.write(Record::Incident(incident).into()).await?;
        let message = format!("{title}. The policy leaves the session as it is.");
        Ok(recovery(RecoveryAction::Escalate, message, None, class))
    }

    /// Whether the checkpoint does not match its hash, and the policy leaves that to the host.
    fn escalates_corrupt(&self, checkpoint: &CheckpointId) -> bool {
        self.wire.config().corrupt_checkpoint == CorruptCheckpoint::Escalate && self.facts().is_corrupt(checkpoint)
    }

    async fn after_filter(&mut self, class: Class) -> Result<ErrorRecovery, SessionError> {
        let facts = self.facts();
        let Some(checkpoint) = facts.rollback_target().map(|open| open.id.clone()) else {
            let incident =
                facts.incident(IncidentKind::ContentFilter, IncidentSeverity::Warning, "there was no checkpoint");
            self.write(Record::Incident(incident).into()).await?;
            let persist = self.wire.config().persist_repairs;
            self.repair_after_error(persist).await?;
            let message = "Content filtered with no checkpoint. Validating session state.".to_owned();
            return Ok(recovery(RecoveryAction::ValidateAndRepair, message, None, class));
        };
        if self.escalates_corrupt(&checkpoint) {
            return self.leave_to_host(class, IncidentKind::ContentFilter, CORRUPT).await;
        }
        let facts = self.facts();
        let removed = facts.since(&checkpoint)?.removed.len();
        let mut incident =
            facts.incident(IncidentKind::ContentFilter, IncidentSeverity::Warning, "a response was filtered");
        incident.checkpoint = Some(checkpoint.clone());
        incident.count = removed as u64;
        let removed = self.roll_back_response(&checkpoint, "content filter", vec![Record::Incident(incident)]).await?;
        let message = format!("Content filter triggered. Rolled back {removed} messages.");
        Ok(recovery(RecoveryAction::RolledBack, message, Some(checkpoint), class))
    }

    async fn after_refusal(&mut self, class: Class, title: &str) -> Result<ErrorRecovery, SessionError> {
        let incident = self.facts().incident(IncidentKind::Corruption, IncidentSeverity::Error, title);
        self.write(Record::Incident(incident).into()).await?;
        match self.wire.policy().guard.retry.on_corruption {
            OnCorruption::Stop => {
                let message =
                    format!("The provider refused the conversation ({title}). The policy leaves it to a person.");
                return Ok(recovery(RecoveryAction::Escalate, message, None, class));
            }
            OnCorruption::Restart if !self.work.has_restarted => {
                self.work.has_restarted = true;
                return self.reset_refused(class, title).await;
            }
            OnCorruption::Restart => {
                let message = format!("The provider refused the conversation ({title}) again after a restart.");
                return Ok(recovery(RecoveryAction::Escalate, message, None, class));
            }
            OnCorruption::Rollback if self.rollback_removes_messages()? => {
                return self.after_failure(class, IncidentKind::Corruption, title).await;
            }
            OnCorruption::Rollback | OnCorruption::Repair => {}
        }
        // Synthetic results may be all that is missing.
        if self.repair_after_error(PersistRepairs::All).await? {
            let message =
                format!("The provider refused the conversation ({title}). It was repaired and can be sent again.");
            return Ok(recovery(RecoveryAction::Repaired, message, None, class));
        }
        if self.rollback_removes_messages()? {
            return self.after_failure(class, IncidentKind::Corruption, title).await;
        }
        let last_resort = self.wire.config().last_resort;
        match last_resort {
            LastResort::Reset => self.reset_refused(class, title).await,
            LastResort::Escalate => {
                let message =
                    format!("The provider refused the conversation ({title}), and no repair is known that would help.");
                Ok(recovery(RecoveryAction::Escalate, message, None, class))
            }
        }
    }

    /// Resets the session; an archive keeps the refused conversation.
    async fn reset_refused(&mut self, class: Class, title: &str) -> Result<ErrorRecovery, SessionError> {
        let archive = self.reset(ResetOptions { archive: true }).await?.archive;
        let kept_as = archive.map_or_else(String::new, |id| format!(" `{id}` keeps the old messages."));
        let message = format!("The provider refused the conversation ({title}). The session was reset.{kept_as}");
        Ok(recovery(RecoveryAction::Reset, message, None, class))
    }

    /// Whether an automatic rollback would remove a message.
    fn rollback_removes_messages(&self) -> Result<bool, SessionError> {
        let facts = self.facts();
        let Some(open) = facts.rollback_target() else { return Ok(false) };
        Ok(!facts.since(&open.id)?.removed.is_empty())
    }

    async fn after_failure(
        &mut self,
        class: Class,
        kind: IncidentKind,
        title: &str,
    ) -> Result<ErrorRecovery, SessionError> {
        let facts = self.facts();
        let incident = Record::Incident(facts.incident(kind, IncidentSeverity::Warning, title));
        if let Some(checkpoint) = facts.rollback_target().map(|open| open.id.clone()) {
            if self.escalates_corrupt(&checkpoint) {
                return self.leave_to_host(class, kind, CORRUPT).await;
            }
            // The refusal of a conversation is recorded already.
            let more = (class != Class::Corruption).then_some(incident).into_iter().collect();
            let removed = self.roll_back_response(&checkpoint, title, more).await?;
            let message = format!("{title}. Rolled back {removed} messages.");
            return Ok(recovery(RecoveryAction::RolledBack, message, Some(checkpoint), class));
        }
        self.write(incident.into()).await?;
        let persist = self.wire.config().persist_repairs;
        if self.repair_after_error(persist).await? {
            let message = format!("{title}. The session was repaired.");
            return Ok(recovery(RecoveryAction::Repaired, message, None, class));
        }
        let message = format!("{title}. The session is not at fault.");
        Ok(recovery(RecoveryAction::Escalate, message, None, class))
    }

    /// Rolls a response back, and gives the number of messages that left the view.
    async fn roll_back_response(
        &mut self,
        checkpoint: &CheckpointId,
        reason: &str,
        more: Vec<Record>,
    ) -> Result<usize, SessionError> {
        let (batch, removed) = self.facts().plan_rollback_response(checkpoint, reason, more)?;
        self.write(batch).await?;
        Ok(removed)
    }

    /// Closes open cycles, repairs stored messages, and says whether a repair was recorded.
    async fn repair_after_error(&mut self, persist: PersistRepairs) -> Result<bool, SessionError> {
        self.recover(None).await?;
        Ok(self.repair_as(persist).await?.id.is_some())
    }
}

/// What a host reads of a checkpoint that does not match.
const CORRUPT: &str = "The messages of the last checkpoint do not match its hash";

/// The kind of the incident about an error.
fn error_kind(failure: &Failure<'_>, class: Class) -> IncidentKind {
    match class {
        Class::Filter => IncidentKind::ContentFilter,
        Class::Corruption => IncidentKind::Corruption,
        Class::Transient | Class::Overflow | Class::Fatal if is_timeout(failure, class) => IncidentKind::Timeout,
        Class::Transient | Class::Overflow | Class::Fatal => IncidentKind::ApiError,
    }
}

fn recovery(action: RecoveryAction, message: String, checkpoint: Option<CheckpointId>, class: Class) -> ErrorRecovery {
    ErrorRecovery { action, message, checkpoint, class: class.as_str(), details: None }
}

/// Whether an error is a timeout.
fn is_timeout(failure: &Failure<'_>, class: Class) -> bool {
    let text = failure.text.to_ascii_lowercase();
    let says_so = ["timed out", "timeout", "deadline exceeded"].into_iter().any(|words| text.contains(words));
    class == Class::Transient && (matches!(failure.status, Some(408 | 504)) || says_so)
}
