//! The reset: the last resort, after which only system messages are left.

use seamline_model::Role;
use seamline_store::{Entry, Error, Hash, IncidentKind, IncidentSeverity, Record, Reset, SessionId};
use serde::{Deserialize, Serialize};

use crate::session::facts::{Batch, CompactionFate, Facts};
use crate::session::host::context::lost_calls;
use crate::session::{Refusal, Session, SessionError};

/// The most archives of one state: each attempt to reset that failed leaves one.
const ARCHIVES_MAX: usize = 100;

/// The options of a reset.
///
/// ```
/// assert!(!seamline::session::ResetOptions::default().archive);
/// let options: seamline::session::ResetOptions = serde_json::from_str(r#"{"archive":true}"#).unwrap();
/// assert!(options.archive);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResetOptions {
    /// Whether another session keeps the messages, if there are any. Their records are in the log in any case.
    pub archive: bool,
}

/// The outcome of a reset.
///
/// ```
/// let result = seamline::session::ResetResult { success: true, archived: false, remaining_messages: 1, archive: None };
/// let written = serde_json::to_string(&result).unwrap();
/// assert_eq!(written, r#"{"success":true,"archived":false,"remainingMessages":1}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetResult {
    /// Always true: a failure is an error.
    pub success: bool,
    /// Whether another session keeps the messages.
    pub archived: bool,
    /// The number of messages that stay.
    pub remaining_messages: usize,
    /// The session that keeps the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<SessionId>,
}

impl Session {
    /// Resets the session: only system messages stay, and no checkpoint or open cycle. This is the last resort. Nothing is
    /// erased: the records are in the log, and with [`archive`](ResetOptions::archive) another session keeps the view,
    /// under this one's name followed by `.archive-` and a number.
    ///
    /// # Errors
    /// When the conversation cannot be read, there are a hundred archives of this state already, or the store failed. The
    /// session is as it was then; an archive may have been made.
    pub async fn reset(&mut self, options: ResetOptions) -> Result<ResetResult, SessionError> {
        self.settle().await?;
        let archive = if options.archive && !self.entries().is_empty() { Some(self.archive().await?) } else { None };
        let batch = self.facts().plan_reset(archive.clone())?;
        self.write(batch).await?;
        let remaining_messages = self.state.view.len();
        Ok(ResetResult { success: true, archived: archive.is_some(), remaining_messages, archive })
    }

    /// Forks the session into a closed one of the first free archive name.
    async fn archive(&self) -> Result<SessionId, SessionError> {
        let generation = self.state.generation + 1;
        for number in 1..=ARCHIVES_MAX {
            let id: SessionId = archive_name(self.id(), generation, number).parse()?;
            match self.fork(id.clone()).await {
                // An earlier attempt made it, and the reset failed.
                Err(SessionError::Store(Error::Exists(_))) => {}
                forked => {
                    forked?.close().await?;
                    return Ok(id);
                }
            }
        }
        let name = archive_name(self.id(), generation, 1);
        Err(Refusal::TooManyArchives { limit: ARCHIVES_MAX, name }.into())
    }
}

impl Facts<'_> {
    /// Plans a reset that keeps system messages.
    fn plan_reset(&self, archive: Option<SessionId>) -> Result<Batch, SessionError> {
        let messages: Vec<&Entry> = self.entries().iter().collect();
        let roles = self.wire.roles(&messages)?;
        let kept = roles.iter().enumerate().filter(|(_, role)| matches!(role, Role::System | Role::Developer));
        let kept: Vec<u64> = kept.map(|(at, _)| at as u64).collect();
        let removed = messages.len() - kept.len();
        let reset = Record::Reset(Reset { kept, meant: Vec::new(), archive });
        self.state.allows(&reset)?;
        let mut incident = self.incident(IncidentKind::Reset, IncidentSeverity::Warning, "the session was reset");
        incident.count = removed as u64;
        let mut records = vec![reset, Record::Incident(incident)];
        records.extend(self.discarded_incidents(&self.state.cycles));
        let lost = self.state.cycles.iter().flat_map(lost_calls).collect();
        // The messages that were being compacted are gone.
        Ok(Batch::of(records).losing(lost).with_compaction(CompactionFate::Ends))
    }
}

/// The digits of a hash that tell two shortened names apart.
const SHORTENED_DIGITS: usize = 16;

/// The name of an archive. The name of a session that leaves no room for the suffix is shortened, and a hash of the whole
/// name follows.
fn archive_name(session: &SessionId, generation: u32, number: usize) -> String {
    let number = if number == 1 { String::new() } else { format!(".{number}") };
    let end = format!(".archive-{generation}{number}");
    let (name, room) = (session.as_str(), SessionId::LEN_MAX - end.len());
    if name.len() <= room {
        return format!("{name}{end}");
    }
    let hash = Hash::of(name.as_bytes()).to_string();
    let (start, digits): (String, String) =
        (name.chars().take(room - SHORTENED_DIGITS - 1).collect(), hash.chars().take(SHORTENED_DIGITS).collect());
    format!("{start}-{digits}{end}")
}
