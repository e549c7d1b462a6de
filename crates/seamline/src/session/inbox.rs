//! Messages from others than the writer.

use seamline_store::{
    COMMIT_BYTES_MAX, INBOX_MESSAGES_MAX, InboxItem, InboxTaken, IncidentKind, IncidentSeverity, Record,
};

use super::{Session, SessionError, said};

impl Session {
    /// Takes in what others have put into the session's inbox, in the order it came and each once, and says how many.
    /// They come in one commit, up to [`INBOX_MESSAGES_MAX`] and about [`INBOX_BYTES_MAX`](crate::store::INBOX_BYTES_MAX)
    /// bytes; the others come in the next time. What is not what was put there is put
    /// aside, written down once and left where it is.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn take_inbox(&mut self) -> Result<usize, SessionError> {
        self.settle().await?;
        let items = self.store.inbox(&self.id).await?;
        // Where more wait than are taken at once, what is damaged is looked for when the last of them are.
        let is_last = items.len() < INBOX_MESSAGES_MAX;
        let mut records = if is_last { self.damaged_inbox().await? } else { Vec::new() };
        let items = if self.compaction.is_some() { &[] } else { fitting(&items) };
        if !items.is_empty() {
            let ids = items.iter().map(|item| item.id.clone()).collect();
            records.push(Record::Inbox(InboxTaken { ids }));
            records.extend(items.iter().map(|item| said(item.message.clone())));
        }
        self.write(records).await?;
        Ok(items.len())
    }

    /// Puts aside what in the inbox is damaged, and says what was not known before.
    async fn damaged_inbox(&self) -> Result<Vec<Record>, SessionError> {
        let mut records = Vec::new();
        for damage in self.store.inbox_damage(&self.id).await? {
            let is_it =
                |found: &&seamline_store::Incident| found.kind == IncidentKind::Damaged && found.detail == damage.why;
            if self.incidents().find(is_it).is_some() {
                continue;
            }
            if !damage.bytes.is_empty() {
                self.store.quarantine(&self.id, &damage.bytes).await?;
            }
            records.push(Record::Incident(self.incident(
                IncidentKind::Damaged,
                IncidentSeverity::Critical,
                damage.why,
            )));
        }
        Ok(records)
    }
}

/// The first messages, as many as one commit has room for.
fn fitting(items: &[InboxItem]) -> &[InboxItem] {
    let mut bytes = 0;
    let fits = |item: &&InboxItem| {
        bytes += item.bytes_about();
        bytes < COMMIT_BYTES_MAX
    };
    &items[..items.iter().take_while(fits).count()]
}
