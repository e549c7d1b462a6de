//! Conversations that begin with the summary of a compaction.

use super::{NewRecord, Reading, RecordRepair, ReturnedMessage, Writer};

impl RecordRepair<'_> {
    /// Writes the records of a conversation that may begin with the summary in the record `summary`. The summary comes
    /// first in the conversation, but its record is behind those that the compaction keeps, so it does not tell where other
    /// records belong. Returns nothing if a repair changed the summary.
    pub(crate) fn write_behind(&self, summary: Option<usize>, writer: &Writer) -> Option<Vec<NewRecord>> {
        let first = self.reading.messages.first();
        let Some(first) = first.filter(|first| Some(first.record) == summary) else { return self.write(writer) };
        let (returned, messages) = self.messages.split_first()?;
        if returned.origin != Some(0) || returned.text != first.text {
            return None;
        }
        if messages.iter().any(|message| message.origin == Some(0)) {
            return None;
        }
        let messages: Vec<ReturnedMessage<'_>> = messages
            .iter()
            .map(|message| ReturnedMessage { origin: message.origin.map(|origin| origin - 1), text: message.text })
            .collect();
        let reading = Reading {
            messages: self.reading.messages[1..].to_vec(),
            chain: self.reading.chain.clone(),
            ..Reading::default()
        };
        RecordRepair { records: self.records, reading: &reading, messages: &messages }.write(writer)
    }
}
