//! Messages from others than the writer.

use std::collections::BTreeSet;

use seamline_store::{
    COMMIT_BYTES_MAX, INBOX_MESSAGES_MAX, InboxItem, InboxTaken, IncidentKind, IncidentSeverity, Record,
};

use super::{Session, SessionError, said};

/// How many characters of what is no message are shown; all of it is put aside.
const EXCERPT_CHARS: usize = 200;

impl Session {
    /// Takes in what others have put into the session's inbox, in the order it came and each once, and says how many.
    /// They come in one commit, up to [`INBOX_MESSAGES_MAX`] and about [`INBOX_BYTES_MAX`](crate::store::INBOX_BYTES_MAX)
    /// bytes; the others come in the next time. What is no message is put aside and written down instead. What is not what
    /// was put there is put aside, written down once and left where it is.
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
        }
        let mut taken = 0;
        for item in items {
            match self.messages_of(&[item.message.as_str()]) {
                Ok(messages) => {
                    taken += messages.len();
                    records.extend(messages.into_iter().map(said));
                }
                Err(error) => records.push(self.stranger(item, &error).await?),
            }
        }
        self.write(records).await?;
        Ok(taken)
    }

    /// Puts aside what in the inbox is no message, which would make the session one that cannot be sent.
    async fn stranger(&self, item: &InboxItem, error: &SessionError) -> Result<Record, SessionError> {
        let hash = self.store.quarantine(&self.id, item.message.as_bytes()).await?;
        let why = error.to_string();
        let (why, text) = (why.lines().next().unwrap_or_default(), item.message.as_str());
        let start: String = text.chars().take(EXCERPT_CHARS).collect();
        let more = if start.len() < text.len() { "…" } else { "" };
        let detail = format!("`{}` of the inbox: {why}; put aside as {hash}: {start}{more}", item.id);
        let mut incident = self.incident(IncidentKind::ValidationFailed, IncidentSeverity::Error, detail);
        incident.count = 1;
        Ok(Record::Incident(incident))
    }

    /// Puts aside what in the inbox is damaged, and says what was not known before.
    async fn damaged_inbox(&self) -> Result<Vec<Record>, SessionError> {
        let mut records = Vec::new();
        let damages = self.store.inbox_damage(&self.id).await?;
        let is_of_bytes = |found: &&seamline_store::Incident| found.kind == IncidentKind::Damaged;
        let known: BTreeSet<&str> = self.incidents().filter(is_of_bytes).map(|found| found.detail.as_str()).collect();
        for damage in damages {
            if known.contains(damage.why.as_str()) {
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
