//! Messages from others than the writer.

use seamline_store::{
    COMMIT_BYTES_MAX, InboxDamage, InboxItem, InboxTaken, Incident, IncidentKind, IncidentSeverity, Record,
};

use super::{Session, SessionError, said};

impl Session {
    /// Takes in what others have put into the session's inbox, in the order it came and each once, and says how many.
    /// They come in one commit, up to
    /// [`INBOX_MESSAGES_MAX`](crate::store::INBOX_MESSAGES_MAX) and about [`INBOX_BYTES_MAX`](crate::store::INBOX_BYTES_MAX)
    /// bytes; the others come in the next time. What is no message is put aside and written down instead. What is not what
    /// was put there is put aside, written down once and left where it is.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn take_inbox(&mut self) -> Result<usize, SessionError> {
        self.settle().await?;
        let items = self.store.inbox(&self.id).await?;
        let mut records = self.looked_at_inbox(items.len() as u64).await?;
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
        let why = why.lines().next().unwrap_or_default();
        let detail = format!("`{}` of the inbox: {why}; put aside as {hash}", item.id);
        let mut incident = self.incident(IncidentKind::ValidationFailed, IncidentSeverity::Error, detail);
        incident.count = 1;
        Ok(Record::Incident(incident))
    }

    /// Looks for what in the inbox is damaged, and says what was not known before. All of it is looked at for that; what
    /// was is taken before it happens again, so that each message is looked at about once, however many wait.
    async fn looked_at_inbox(&mut self, taken: u64) -> Result<Vec<Record>, SessionError> {
        if self.inbox_looked_at > 0 {
            self.inbox_looked_at = self.inbox_looked_at.saturating_sub(taken.max(1));
            return Ok(Vec::new());
        }
        let waiting = if taken > 0 { self.store.waiting(&self.id).await? } else { 0 };
        let records = self.damaged_inbox().await?;
        self.inbox_looked_at = waiting.saturating_sub(taken);
        Ok(records)
    }

    /// Puts aside what in the inbox is damaged, and says what was not known before.
    async fn damaged_inbox(&self) -> Result<Vec<Record>, SessionError> {
        let mut records = Vec::new();
        for damage in self.store.inbox_damage(&self.id).await? {
            if self.incidents().any(|found| found.kind == IncidentKind::Damaged && is_about(found, &damage)) {
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

/// Whether an incident says what is damaged. What is missing, which has no bytes, may be told by numbers that change as
/// other messages come and go: it is the same as long as they are as far apart.
fn is_about(found: &Incident, damage: &InboxDamage) -> bool {
    let is_missing = damage.bytes.is_empty();
    found.detail == damage.why || (is_missing && counted(&found.detail) == counted(&damage.why))
}

/// What a text says beside its numbers, and how far these are apart; of a single one, how large it is.
fn counted(text: &str) -> (String, u64) {
    let words = text.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    let numbers =
        || text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
    let most = numbers().max().unwrap_or(0);
    let least = if numbers().count() > 1 { numbers().min().unwrap_or(0) } else { 0 };
    (words, most - least)
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
