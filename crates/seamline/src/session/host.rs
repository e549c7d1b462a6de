//! The side of a session that faces its host: hooks, errors of the provider, the repair context and the inbox.

pub(super) mod context;
mod errors;
mod hooks;
mod inbox;

use seamline_store::{Incident, Record};

use super::facts::Batch;
use super::{Session, SessionError};

pub use context::{LostCall, RepairContext};
pub use errors::{ErrorRecovery, RecoveryAction};
pub use hooks::{AgentEnd, AgentStart, SessionStart, ToolStart, TurnEnd};

impl Session {
    /// The incidents of the session, from the first to the last: the last thousand. Earlier ones are in the log.
    pub fn incidents(&self) -> impl DoubleEndedIterator<Item = &Incident> {
        self.state.incidents.iter()
    }

    /// The losses and repairs since the session was opened or this was [taken](Self::take_repair_context), and the messages
    /// of the user that have no response.
    pub fn repair_context(&self) -> RepairContext {
        self.facts().repair_context()
    }

    /// Gives the same, for a turn that reads it, and starts anew.
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
        let items = self.log.inbox().await?;
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
        let waiting = if taken > 0 { self.log.waiting().await? } else { 0 };
        let damages = self.facts().new_damages(self.log.inbox_damage().await?);
        for damage in damages.iter().filter(|damage| !damage.bytes.is_empty()) {
            self.log.quarantine(&damage.bytes).await?;
        }
        self.work.inbox_checked = waiting.saturating_sub(taken);
        Ok(damages.iter().map(|damage| self.facts().damage_incident(damage)).collect())
    }
}
