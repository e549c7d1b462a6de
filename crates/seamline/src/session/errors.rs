//! What is done when the provider answers with an error.

use seamline_store::{IncidentKind, IncidentSeverity, Record};
use serde::Serialize;

use super::{LastResort, PersistRepairs, ResetOptions, Session, SessionError};
use crate::guards::filter;
use crate::{Class, Failure, classify};

/// What was done about an error.
///
/// ```
/// use seamline::session::{ErrorRecovery, RecoveryAction};
///
/// let recovery = ErrorRecovery { action: RecoveryAction::Escalate, message: "gone".to_owned(), checkpoint: None, class: "fatal", details: None };
/// assert_eq!(serde_json::to_string(&recovery).unwrap(), r#"{"action":"escalate","message":"gone","class":"fatal"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorRecovery {
    /// What was done.
    pub action: RecoveryAction,
    /// For the user, and never for the provider.
    pub message: String,
    /// The checkpoint that was gone back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// What kind of error it was.
    pub class: &'static str,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<&'static str>,
}

/// What was done about an error.
///
/// ```
/// let action = seamline::session::RecoveryAction::ValidateAndRepair;
/// assert_eq!(serde_json::to_string(&action).unwrap(), r#""validate_and_repair""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryAction {
    /// Everything since a checkpoint was taken back, but for what others than the model said.
    RolledBack,
    /// What is kept was put right, and can be sent again.
    Repaired,
    /// The session started over.
    Reset,
    /// There was no checkpoint to go back to: what is kept was checked, and put right where that was needed.
    ValidateAndRepair,
    /// Nothing of the session was at fault, or nothing could be done about it. Somebody else has to act: the message and
    /// the [details](ErrorRecovery::details) say how.
    Escalate,
}

impl Session {
    /// Does what an error asks for. After a content filter, a timeout or an error of the provider everything since the
    /// last open checkpoint is taken back but what others than the model said meanwhile; a conversation that the provider
    /// refuses is put right. The error is said to the user, and never becomes part of the conversation.
    ///
    /// A compaction that is going on is given up: what came meanwhile stays.
    ///
    /// # Errors
    /// When the conversation cannot be read, or the store could not keep something: then nothing is said to have been done
    /// that was not.
    pub async fn handle_error(&mut self, failure: &Failure<'_>) -> Result<ErrorRecovery, SessionError> {
        // Whatever was being summarized is not any more.
        self.break_off_compaction();
        self.settle().await?;
        let filtered = filter(failure).is_some();
        let verdict = classify(failure);
        let class = if filtered { Class::Filter } else { verdict.class };
        if !self.config.enabled {
            let message = format!("{}. The session is only kept.", verdict.meaning);
            return Ok(recovery(RecoveryAction::Escalate, message, None, class));
        }
        let kind = if is_timeout(failure, class) { IncidentKind::Timeout } else { IncidentKind::ApiError };
        let recovered = match class {
            Class::Filter => self.after_filter(class).await,
            Class::Corruption => self.after_refusal(class, verdict.meaning).await,
            Class::Transient | Class::Overflow | Class::Fatal => self.after_failure(class, kind, verdict.meaning).await,
        };
        // What is known of the error says nothing of a filter that was told by the shape of an answer.
        let details = Some(verdict.advice).filter(|advice| !filtered && !advice.is_empty());
        recovered.map(|recovery| {
            // To put the conversation right was tried.
            let is_in_vain = class == Class::Corruption && recovery.action == RecoveryAction::Escalate;
            ErrorRecovery { details: details.filter(|_| !is_in_vain), ..recovery }
        })
    }

    async fn after_filter(&mut self, class: Class) -> Result<ErrorRecovery, SessionError> {
        let Some(checkpoint) = self.way_back().map(|open| open.id.clone()) else {
            let incident =
                self.incident(IncidentKind::ContentFilter, IncidentSeverity::Warning, "there was no checkpoint");
            self.write(vec![Record::Incident(incident)]).await?;
            self.put_right(self.config.persist_repairs).await?;
            let message = "Content filtered with no checkpoint. Validating session state.".to_owned();
            return Ok(recovery(RecoveryAction::ValidateAndRepair, message, None, class));
        };
        let removed = self.since(&checkpoint).await?.taken.len();
        let mut incident =
            self.incident(IncidentKind::ContentFilter, IncidentSeverity::Warning, "an answer was filtered");
        incident.checkpoint = Some(checkpoint.clone());
        incident.count = removed as u64;
        let result = self.roll_back_answer(&checkpoint, "content filter", vec![Record::Incident(incident)]).await?;
        let message = format!("Content filter triggered. Rolled back {} messages.", result.messages_removed);
        Ok(recovery(RecoveryAction::RolledBack, message, Some(checkpoint), class))
    }

    async fn after_refusal(&mut self, class: Class, title: &str) -> Result<ErrorRecovery, SessionError> {
        let incident = self.incident(IncidentKind::Corruption, IncidentSeverity::Error, title);
        self.write(vec![Record::Incident(incident)]).await?;
        // What is refused as it is may be put right by what is made up alone.
        if self.put_right(PersistRepairs::All).await? {
            let message =
                format!("The provider refused the conversation ({title}). It was put right and can be sent again.");
            return Ok(recovery(RecoveryAction::Repaired, message, None, class));
        }
        if self.helps_to_go_back().await? {
            return self.after_failure(class, IncidentKind::Corruption, title).await;
        }
        match self.config.last_resort {
            LastResort::Reset => {
                let archive = self.reset(ResetOptions { archive: true }).await?.archive;
                let kept_as = archive.map_or_else(String::new, |id| format!(" What it was is kept as `{id}`."));
                let message =
                    format!("The provider refused the conversation ({title}). The session starts over.{kept_as}");
                Ok(recovery(RecoveryAction::Reset, message, None, class))
            }
            LastResort::Escalate => {
                let message = format!(
                    "The provider refused the conversation ({title}), and nothing is known that would put it right."
                );
                Ok(recovery(RecoveryAction::Escalate, message, None, class))
            }
        }
    }

    /// Whether there is anything that going back would take out.
    async fn helps_to_go_back(&self) -> Result<bool, SessionError> {
        let Some(open) = self.way_back() else { return Ok(false) };
        Ok(!self.since(&open.id).await?.taken.is_empty())
    }

    async fn after_failure(
        &mut self,
        class: Class,
        kind: IncidentKind,
        title: &str,
    ) -> Result<ErrorRecovery, SessionError> {
        if let Some(checkpoint) = self.way_back().map(|open| open.id.clone()) {
            // A refusal of the conversation was written down before.
            let incident = self.incident(kind, IncidentSeverity::Warning, title);
            let more = (class != Class::Corruption).then_some(Record::Incident(incident)).into_iter().collect();
            let result = self.roll_back_answer(&checkpoint, title, more).await?;
            let message = format!("{title}. Rolled back {} messages.", result.messages_removed);
            return Ok(recovery(RecoveryAction::RolledBack, message, Some(checkpoint), class));
        }
        let incident = self.incident(kind, IncidentSeverity::Warning, title);
        self.write(vec![Record::Incident(incident)]).await?;
        if self.put_right(self.config.persist_repairs).await? {
            let message = format!("{title}. The session was put right.");
            return Ok(recovery(RecoveryAction::Repaired, message, None, class));
        }
        let message = format!("{title}. Nothing of the session is at fault.");
        Ok(recovery(RecoveryAction::Escalate, message, None, class))
    }

    /// Puts right what is kept, writes so much of it down, and says whether anything was.
    async fn put_right(&mut self, persist: PersistRepairs) -> Result<bool, SessionError> {
        self.close_cycles().await?;
        Ok(self.repair_as(persist).await?.id.is_some())
    }
}

fn recovery(action: RecoveryAction, message: String, checkpoint: Option<String>, class: Class) -> ErrorRecovery {
    ErrorRecovery { action, message, checkpoint, class: class.as_str(), details: None }
}

/// Whether nothing came in time.
fn is_timeout(failure: &Failure<'_>, class: Class) -> bool {
    let text = failure.text.to_ascii_lowercase();
    let says_so = ["timed out", "timeout", "deadline exceeded"].into_iter().any(|words| text.contains(words));
    class == Class::Transient && (matches!(failure.status, Some(408 | 504)) || says_so)
}
