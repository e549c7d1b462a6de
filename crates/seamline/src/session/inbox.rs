//! Messages from others than the writer.

use seamline_store::{InboxTaken, Record};

use super::{Session, SessionError, said};

impl Session {
    /// Takes in what others have put into the session's inbox, in the order it came and each once, and says how many.
    ///
    /// # Errors
    /// When the store could not keep it.
    pub async fn take_inbox(&mut self) -> Result<usize, SessionError> {
        self.settle().await?;
        let items = self.store.inbox(&self.id).await?;
        if items.is_empty() || self.compaction.is_some() {
            return Ok(0);
        }
        let ids = items.iter().map(|item| item.id.clone()).collect();
        let mut records = vec![Record::Inbox(InboxTaken { ids })];
        records.extend(items.iter().map(|item| said(item.message.clone())));
        self.write(records).await?;
        Ok(items.len())
    }
}
