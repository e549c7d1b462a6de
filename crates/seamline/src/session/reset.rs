//! Starting over.

use seamline_store::{Error, Hash, IncidentKind, IncidentSeverity, InvalidSessionId, Raw, Record, Reset, SessionId};
use serde::{Deserialize, Serialize};

use super::context::lost_with;
use super::{Session, SessionError};

/// How many archives of one state there may be: each attempt to start over that broke off leaves one.
const ARCHIVES_MAX: usize = 100;

/// How a session starts over.
///
/// ```
/// assert!(!seamline::session::ResetOptions::default().archive);
/// let options: seamline::session::ResetOptions = serde_json::from_str(r#"{"archive":true}"#).unwrap();
/// assert!(options.archive);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResetOptions {
    /// Whether the session as it was is kept as a session of its own, if it has any messages. Its records are in the log
    /// in any case.
    pub archive: bool,
}

/// What starting over did.
///
/// ```
/// let result = seamline::session::ResetResult { success: true, archived: false, remaining_messages: 1, archive: None };
/// let written = serde_json::to_string(&result).unwrap();
/// assert_eq!(written, r#"{"success":true,"archived":false,"remainingMessages":1}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetResult {
    /// Whether it went well; what did not is an error.
    pub success: bool,
    /// Whether the session as it was is kept.
    pub archived: bool,
    /// How many messages stay.
    pub remaining_messages: usize,
    /// The session that it is kept as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<SessionId>,
}

impl Session {
    /// Starts over: only messages of the system stay, and no checkpoint or open cycle. This is the last resort. Nothing is
    /// erased: the records are in the log, and with [`archive`](ResetOptions::archive) a session of its own has what was to
    /// be seen, under this one's name with `.archive-` and a number behind it.
    ///
    /// # Errors
    /// When the conversation cannot be read, there are a hundred archives of this state already, or the store could not
    /// keep it. The session is as it was then; an archive may have been made.
    pub async fn reset(&mut self, options: ResetOptions) -> Result<ResetResult, SessionError> {
        self.settle().await?;
        // Of nothing there is nothing to keep: it may have started over just now.
        let is_empty = self.entries().is_empty();
        let archive = if options.archive && !is_empty { Some(self.archive().await?) } else { None };
        let messages: Vec<&Raw> = self.entries().iter().map(|entry| &entry.message).collect();
        let roles = self.wire.roles(&messages)?;
        let kept = roles.iter().enumerate().filter(|(_, role)| matches!(**role, "system" | "developer"));
        let kept: Vec<u64> = kept.map(|(at, _)| at as u64).collect();
        let removed = messages.len() - kept.len();
        let reset = Record::Reset(Reset { kept, meant: Vec::new(), archive: archive.clone() });
        self.state.allows(&reset)?;
        let mut incident = self.incident(IncidentKind::Reset, IncidentSeverity::Warning, "the session started over");
        incident.count = removed as u64;
        let running = self.state.cycles.clone();
        let told = self.forgotten(&running);
        // What was being compacted is not there any more.
        let lost = running.iter().flat_map(lost_with).collect();
        self.keep_losing([reset, Record::Incident(incident)].into_iter().chain(told).collect(), true, lost).await?;
        let remaining_messages = self.state.view.len();
        Ok(ResetResult { success: true, archived: archive.is_some(), remaining_messages, archive })
    }

    /// Keeps the session as it is as a session of its own, which is closed.
    async fn archive(&self) -> Result<SessionId, SessionError> {
        for number in 1..=ARCHIVES_MAX {
            let name = archive_name(&self.id, self.state.generation + 1, number);
            let id: SessionId =
                name.parse().map_err(|error: InvalidSessionId| SessionError::Refused(error.to_string()))?;
            match self.fork(id.clone()).await {
                // An earlier attempt made it, and the reset did not come about.
                Err(SessionError::Store(Error::Exists(_))) => {}
                forked => {
                    forked?.close().await?;
                    return Ok(id);
                }
            }
        }
        let name = archive_name(&self.id, self.state.generation + 1, 1);
        Err(SessionError::Refused(format!("there are {ARCHIVES_MAX} archives `{name}` already")))
    }
}

/// How many digits of a hash tell two names apart of which only the beginning has room.
const SHORTENED_DIGITS: usize = 16;

/// The name of an archive. Where that of its session is too long to have anything behind it, it is shortened, and the
/// hash of all of it stands for the rest.
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
