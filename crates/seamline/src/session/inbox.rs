//! The inbox: messages that other processes push for the session's writer.

use seamline_store::{COMMIT_BYTES_MAX, InboxItem, InboxTaken, IncidentKind, IncidentSeverity, Record};

use super::{Session, SessionError, said};

impl Session {
    /// Appends the messages of the session's inbox, each once and in the order they were pushed. Returns how many.
    ///
    /// One call writes one commit of up to [`INBOX_MESSAGES_MAX`](crate::store::INBOX_MESSAGES_MAX) messages and about
    /// [`INBOX_BYTES_MAX`](crate::store::INBOX_BYTES_MAX) bytes; the next call takes the rest. An item that is not a
    /// message is quarantined, and an incident names it. A message that was altered in the store is quarantined,
    /// reported once as an incident, and left in the inbox.
    ///
    /// # Errors
    /// When the store cannot write the commit.
    pub async fn take_inbox(&mut self) -> Result<usize, SessionError> {
        self.settle().await?;
        let items = self.store.inbox(&self.id).await?;
        let mut records = self.inspect_inbox(items.len() as u64).await?;
        let items = if self.compaction.is_some() { &[] } else { fitting(&items) };
        if !items.is_empty() {
            let ids = items.iter().map(|item| item.id.clone()).collect();
            records.push(Record::Inbox(InboxTaken { ids }));
        }
        let mut taken = 0;
        for item in items {
            match self.messages_of(&[item.message.as_str()]) {
                Ok(messages) => {
                    taken += messages.len();
                    records.extend(messages.into_iter().map(said));
                }
                Err(error) => records.push(self.quarantine_item(item, &error).await?),
            }
        }
        self.write(records).await?;
        Ok(taken)
    }

    /// Quarantines an inbox item that is not a message: with it no provider would accept the session.
    async fn quarantine_item(&self, item: &InboxItem, error: &SessionError) -> Result<Record, SessionError> {
        let hash = self.store.quarantine(&self.id, item.message.as_bytes()).await?;
        let why = error.to_string();
        let why = why.lines().next().unwrap_or_default();
        let detail = format!("inbox item `{}`: {why}; quarantined as {hash}", item.id);
        let mut incident = self.incident(IncidentKind::ValidationFailed, IncidentSeverity::Error, detail);
        incident.count = 1;
        Ok(Record::Incident(incident))
    }

    /// Looks for damage in the inbox and returns incidents for new damage. One inspection reads the whole inbox. The
    /// next one waits until those messages are taken, so each message is read about once.
    async fn inspect_inbox(&mut self, taken: u64) -> Result<Vec<Record>, SessionError> {
        if self.inbox_looked_at > 0 {
            self.inbox_looked_at = self.inbox_looked_at.saturating_sub(taken.max(1));
            return Ok(Vec::new());
        }
        let waiting = if taken > 0 { self.store.waiting(&self.id).await? } else { 0 };
        let records = self.report_inbox_damage().await?;
        self.inbox_looked_at = waiting.saturating_sub(taken);
        Ok(records)
    }

    /// Quarantines the damaged messages of the inbox and returns incidents for new damage.
    async fn report_inbox_damage(&self) -> Result<Vec<Record>, SessionError> {
        let mut records = Vec::new();
        for damage in self.store.inbox_damage(&self.id).await? {
            if self.incidents().any(|incident| incident.inbox_damage == Some(damage.kind)) {
                continue;
            }
            if !damage.bytes.is_empty() {
                self.store.quarantine(&self.id, &damage.bytes).await?;
            }
            let detail = damage.to_string();
            let mut incident = self.incident(IncidentKind::Damaged, IncidentSeverity::Critical, detail);
            incident.inbox_damage = Some(damage.kind);
            records.push(Record::Incident(incident));
        }
        Ok(records)
    }
}

/// Returns the first items, as many as one commit has room for.
fn fitting(items: &[InboxItem]) -> &[InboxItem] {
    let mut bytes = 0;
    let fits = |item: &&InboxItem| {
        bytes += item.bytes_about();
        bytes < COMMIT_BYTES_MAX
    };
    &items[..items.iter().take_while(fits).count()]
}
