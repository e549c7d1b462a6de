//! Plans the reaction of a session to errors of the provider.

use seamline_store::{CheckpointId, IncidentKind, IncidentSeverity, Record, RejectedMembers, SessionId};
use serde::Serialize;

use crate::classify;
use crate::classify::{Class, Failure, NamedMember};
use crate::guards::{OnCorruption, filter};
use crate::session::facts::{Batch, Facts};
use crate::session::{CorruptCheckpoint, LastResort, PersistRepairs, SessionError};

/// The action of the session after an error.
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
    #[serde(serialize_with = "class_name")]
    pub class: Class,
    /// The advice for the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<&'static str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn class_name<S: serde::Serializer>(class: &Class, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(class.as_str())
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

/// An error of the provider, as the session sees it.
#[derive(Debug, Clone)]
pub(super) struct ProviderError {
    class: Class,
    /// The kind of its incident.
    kind: IncidentKind,
    /// The meaning of the error, in a sentence.
    title: &'static str,
    /// The advice for the host.
    advice: Option<&'static str>,
    /// The members that it names.
    members: Vec<NamedMember>,
}

/// The first reaction to an error.
pub(super) enum Reaction {
    /// Write the incident, close open cycles and repair the stored messages. [`Facts::plan_after_repair`] says how it ends.
    /// Where the provider refused the conversation, calls of the last message do not stay open.
    Repair { incident: Record, persist: PersistRepairs, refused: bool },
    /// The reaction ends at once.
    End(End),
}

/// The end of the reaction to an error.
pub(super) enum End {
    /// Write these records.
    Recovered(Batch, ErrorRecovery),
    /// Reset the session.
    Reset,
    /// Write the incident, and reset the session; this happens once until a response comes.
    Restart(Record),
}

impl ProviderError {
    pub(super) fn of(failure: &Failure<'_>) -> Self {
        let verdict = classify(failure);
        if filter(failure).is_some() {
            // The advice is about the error, not about a filter that the shape of a response revealed.
            let (class, kind) = (Class::Filter, IncidentKind::ContentFilter);
            return Self { class, kind, title: verdict.meaning, advice: None, members: Vec::new() };
        }
        let kind = match verdict.class {
            Class::Filter => IncidentKind::ContentFilter,
            Class::Corruption => IncidentKind::Corruption,
            Class::Transient if verdict.timed_out => IncidentKind::Timeout,
            Class::Transient | Class::Overflow | Class::Fatal => IncidentKind::ApiError,
        };
        let advice = Some(verdict.advice).filter(|advice| !advice.is_empty());
        Self { class: verdict.class, kind, title: verdict.meaning, advice, members: verdict.members }
    }

    fn recovery(&self, action: RecoveryAction, message: String, checkpoint: Option<CheckpointId>) -> ErrorRecovery {
        // The session has already tried to repair the conversation.
        let is_in_vain = self.class == Class::Corruption && action == RecoveryAction::Escalate;
        let details = self.advice.filter(|_| !is_in_vain);
        ErrorRecovery { action, message, checkpoint, class: self.class, details }
    }

    /// The end without a change.
    fn end(&self, action: RecoveryAction, message: String) -> End {
        End::Recovered(Batch::default(), self.recovery(action, message, None))
    }

    /// The recovery after a reset.
    pub(super) fn after_reset(&self, archive: Option<SessionId>) -> ErrorRecovery {
        let kept_as = archive.map_or_else(String::new, |id| format!(" `{id}` keeps the old messages."));
        let message =
            format!("The provider refused the conversation ({}). The session was reset.{kept_as}", self.title);
        self.recovery(RecoveryAction::Reset, message, None)
    }
}

impl Facts<'_> {
    /// Plans the first reaction to an error.
    pub(super) fn plan_error(&self, error: &ProviderError) -> Result<Reaction, SessionError> {
        if !self.config().enabled {
            let message = format!("{}. The session is only kept.", error.title);
            let error = ProviderError { advice: None, members: Vec::new(), ..*error };
            return Ok(Reaction::End(error.end(RecoveryAction::Escalate, message)));
        }
        if !self.config().recover_on_error {
            return Ok(Reaction::End(self.leave_to_host(error, error.title)));
        }
        let refused = error.class == Class::Corruption;
        let (severity, persist, detail) = match error.class {
            Class::Corruption => {
                if let Some(end) = self.plan_corruption(error)? {
                    return Ok(Reaction::End(end));
                }
                // Synthetic results may be all that is missing.
                (IncidentSeverity::Error, PersistRepairs::All, error.title)
            }
            class @ (Class::Transient | Class::Fatal | Class::Filter | Class::Overflow) => {
                if let Some(target) = self.rollback_target() {
                    return Ok(Reaction::End(self.plan_error_rollback(error, &target.id)?));
                }
                let is_filter = class == Class::Filter;
                let detail = if is_filter { "there was no checkpoint" } else { error.title };
                (IncidentSeverity::Warning, self.config().persist_repairs, detail)
            }
        };
        let mut incident = self.incident(error.kind, severity, detail);
        incident.rejected = self.newly_rejected(&error.members).map(Box::new);
        Ok(Reaction::Repair { incident: Record::Incident(incident), persist, refused })
    }

    /// All members that the provider has rejected, if an error names new ones. The incident stores them, so that requests
    /// leave them out after a reopen, too.
    fn newly_rejected(&self, members: &[NamedMember]) -> Option<RejectedMembers> {
        let mut policy = self.wire.options.policy.clone();
        let before = policy.rejections();
        policy.reject_members(members);
        Some(policy.rejections()).filter(|rejected| *rejected != before)
    }

    /// Plans the end for a conversation that the provider refuses, unless the policy repairs it.
    fn plan_corruption(&self, error: &ProviderError) -> Result<Option<End>, SessionError> {
        let incident = Record::Incident(self.incident(error.kind, IncidentSeverity::Error, error.title));
        let escalate = |what: &str| {
            let message = format!("The provider refused the conversation ({}){what}.", error.title);
            let recovery = error.recovery(RecoveryAction::Escalate, message, None);
            Some(End::Recovered(incident.clone().into(), recovery))
        };
        Ok(match self.wire.policy().guard.retry.on_corruption {
            OnCorruption::Repair => None,
            OnCorruption::Stop => escalate(", and the policy leaves it to a person"),
            OnCorruption::Restart if self.work.has_restarted => escalate(" again after a restart"),
            OnCorruption::Restart => Some(End::Restart(incident)),
            OnCorruption::Rollback => match self.rollback_target() {
                Some(target) if !self.since(&target.id)?.removed.is_empty() => {
                    let mut end = self.plan_error_rollback(error, &target.id)?;
                    if let End::Recovered(batch, _) = &mut end {
                        batch.records.insert(0, incident);
                    }
                    Some(end)
                }
                _ => None,
            },
        })
    }

    /// Records an error, and leaves everything else to the host.
    fn leave_to_host(&self, error: &ProviderError, title: &str) -> End {
        let incident = self.incident(error.kind, IncidentSeverity::Warning, title);
        let message = format!("{title}. The policy leaves the session as it is.");
        let recovery = error.recovery(RecoveryAction::Escalate, message, None);
        End::Recovered(Record::Incident(incident).into(), recovery)
    }

    /// Plans how the reaction to an error ends after a repair, which may have changed nothing.
    pub(super) fn plan_after_repair(&self, error: &ProviderError, is_repaired: bool) -> Result<End, SessionError> {
        let title = error.title;
        Ok(match error.class {
            Class::Filter => {
                let message = "Content filtered with no checkpoint. Validating session state.".to_owned();
                error.end(RecoveryAction::ValidateAndRepair, message)
            }
            Class::Corruption if is_repaired => {
                let what = "It was repaired and can be sent again.";
                let message = format!("The provider refused the conversation ({title}). {what}");
                error.end(RecoveryAction::Repaired, message)
            }
            Class::Corruption => self.plan_refused(error)?,
            Class::Transient | Class::Overflow | Class::Fatal if is_repaired => {
                error.end(RecoveryAction::Repaired, format!("{title}. The session was repaired."))
            }
            Class::Transient | Class::Overflow | Class::Fatal => {
                error.end(RecoveryAction::Escalate, format!("{title}. The session is not at fault."))
            }
        })
    }

    /// Plans the end for a conversation that the provider refuses and no repair changes.
    fn plan_refused(&self, error: &ProviderError) -> Result<End, SessionError> {
        if let Some(target) = self.rollback_target()
            && !self.since(&target.id)?.removed.is_empty()
        {
            return self.plan_error_rollback(error, &target.id);
        }
        Ok(match self.config().last_resort {
            LastResort::Reset => End::Reset,
            LastResort::Escalate => {
                let (title, what) = (error.title, "no repair is known that would help");
                let message = format!("The provider refused the conversation ({title}), and {what}.");
                error.end(RecoveryAction::Escalate, message)
            }
        })
    }

    /// Plans the rollback of a response after an error.
    fn plan_error_rollback(&self, error: &ProviderError, checkpoint: &CheckpointId) -> Result<End, SessionError> {
        if self.config().corrupt_checkpoint == CorruptCheckpoint::Escalate && self.is_corrupt(checkpoint) {
            return Ok(self.leave_to_host(error, "The messages of the last checkpoint do not match its hash"));
        }
        let is_filter = error.class == Class::Filter;
        let detail = if is_filter { "a response was filtered" } else { error.title };
        let mut incident = self.incident(error.kind, IncidentSeverity::Warning, detail);
        if is_filter {
            incident.checkpoint = Some(checkpoint.clone());
            incident.count = self.removed_since(checkpoint)? as u64;
        }
        // The refusal of a conversation is recorded already.
        let more = (error.class != Class::Corruption).then_some(Record::Incident(incident)).into_iter().collect();
        let reason = if is_filter { "content filter" } else { error.title };
        let (batch, removed) = self.plan_rollback_response(checkpoint, reason, more)?;
        let what = if is_filter { "Content filter triggered" } else { error.title };
        let message = format!("{what}. Rolled back {removed} messages.");
        Ok(End::Recovered(batch, error.recovery(RecoveryAction::RolledBack, message, Some(checkpoint.clone()))))
    }
}
