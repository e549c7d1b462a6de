//! The reset: the last resort, after which only system messages and messages marked as the system prompt are left.

use seamline_model::Role;
use seamline_store::{Entry, Hash, IncidentKind, IncidentSeverity, Raw, Record, Reset, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::session::facts::{Batch, CompactionFate, Facts};
use crate::session::host::context::lost_calls;
use crate::session::{Refusal, SessionError};

/// The most archives of one state: each attempt to reset that failed leaves one.
const ARCHIVES_MAX: usize = 100;

/// The options of a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResetOptions {
    /// Whether another session keeps the messages, if there are any. Their records are in the log in any case.
    pub archive: bool,
}

/// The outcome of a reset.
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

impl Facts<'_> {
    /// The names that the archive of a reset may have, the first choice first.
    pub(super) fn archive_names(&self) -> impl Iterator<Item = String> + use<> {
        let (id, generation) = (self.id.clone(), self.state.generation + 1);
        (1..=ARCHIVES_MAX).map(move |number| archive_name(&id, generation, number))
    }

    /// The refusal of a reset all of whose archive names are taken.
    pub(super) fn too_many_archives(&self) -> Refusal {
        let name = archive_name(self.id, self.state.generation + 1, 1);
        Refusal::TooManyArchives { limit: ARCHIVES_MAX, name }
    }

    /// Plans a reset that keeps system messages.
    pub(super) fn plan_reset(&self, archive: Option<SessionId>) -> Result<Batch, SessionError> {
        let messages: Vec<&Entry> = self.entries().iter().collect();
        let roles = self.wire.roles(&messages)?;
        let is_system = |(role, entry): &(&Role, &&Entry)| {
            matches!(role, Role::System | Role::Developer) || is_marked_system_prompt(&entry.message)
        };
        let kept = roles.iter().zip(&messages).enumerate().filter(|(_, message)| is_system(message));
        let kept: Vec<u64> = kept.map(|(at, _)| at as u64).collect();
        let removed = messages.len() - kept.len();
        let reset = Record::Reset(Reset { kept, meant: Vec::new(), archive });
        self.state.allows(&reset)?;
        let incident = self.counted(IncidentKind::Reset, IncidentSeverity::Warning, "the session was reset", removed);
        let mut records = vec![reset, incident];
        records.extend(self.discarded_incidents(&self.state.cycles));
        let lost = self.state.cycles.iter().flat_map(lost_calls).collect();
        // The messages that were being compacted are gone.
        Ok(Batch::of(records).losing(lost).with_compaction(CompactionFate::Ends))
    }
}

/// The member by which hosts mark the text of a user message as the system prompt (S1-63). Source document 001 has no
/// system role.
const SYSTEM_PROMPT: &str = "isSystemPrompt";

/// Whether a message or one of its texts is marked as the system prompt.
fn is_marked_system_prompt(message: &Raw) -> bool {
    if !message.as_str().contains(SYSTEM_PROMPT) {
        return false;
    }
    let is_marked = |value: &Value| value.get(SYSTEM_PROMPT) == Some(&Value::Bool(true));
    let message: Value = serde_json::from_str(message.as_str()).unwrap_or_default();
    let lists = seamline_dialects::block_lists().iter().filter_map(|list| message.get(list)?.as_array());
    is_marked(&message) || lists.flatten().any(is_marked)
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
