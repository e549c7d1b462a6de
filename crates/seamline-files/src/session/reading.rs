//! The result of reading a session: its active conversation and its defects.

use seamline_dialects::Dialect;

use std::collections::HashSet;

use super::{Defect, MessageList};
use crate::lines::{DamagedLine, RecordPlace};

/// A file, read by the format of its program.
#[derive(Debug, Clone, Default)]
pub struct FileReading {
    /// The places of the records, in the order of the file.
    pub records: Vec<RecordPlace>,
    /// The lines that are not exactly one record.
    pub damaged: Vec<DamagedLine>,
    /// The session that the records hold.
    pub session: Reading,
}

/// A session: the conversation that its program would send, and the defects of its records.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// The dialect of the messages.
    pub dialect: &'static str,
    /// The provider that the program sends them to, if the file tells.
    pub provider: Option<&'static str>,
    /// The messages that the program would send, in that order.
    pub messages: Vec<CarriedMessage>,
    /// The defects of the records.
    pub defects: Vec<Defect>,
    /// The records on the path from the first to the last one, for programs whose records name their parent. For other
    /// programs, the records among which new ones may go; empty if they may go anywhere.
    pub chain: Vec<usize>,
    /// The records of the conversation that no message shows, such as the reasoning of the model.
    pub unshown: Vec<usize>,
    /// The description of the session.
    pub about: About,
    /// The body up to the end of its last message, where the messages have no texts of their own.
    pub(crate) whole: Option<String>,
}

/// A message of the carrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedMessage {
    /// The record that holds the message; of several records, the first one.
    pub record: usize,
    /// The index of the part, in a record that holds several messages.
    pub part: usize,
    /// The record of each block, for a message that the program joins from several records. Empty for other messages.
    pub owners: Vec<usize>,
    /// The message as JSON, in the dialect of the reading.
    pub text: String,
}

impl CarriedMessage {
    /// A message that one record holds.
    pub(crate) fn of(record: usize, text: String) -> Self {
        Self { record, part: 0, owners: Vec::new(), text }
    }

    /// The record of a block.
    pub fn record_of(&self, block: Option<usize>) -> usize {
        block.and_then(|block| self.owners.get(block)).copied().unwrap_or(self.record)
    }

    /// The records that hold the message, in the order of their first blocks.
    pub fn records(&self) -> Vec<usize> {
        if self.owners.is_empty() {
            return vec![self.record];
        }
        let mut seen = HashSet::new();
        self.owners.iter().copied().filter(|owner| seen.insert(*owner)).collect()
    }
}

/// The description of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The id of the session in its program.
    pub id: Option<String>,
    /// The title of the session.
    pub title: Option<String>,
    /// The folder that the program worked in.
    pub folder: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The time of the last record, as the program wrote it.
    pub updated: Option<String>,
    /// The path of the file, for programs whose sessions do not tell which of two programs wrote them.
    pub file: Option<String>,
    /// Whether the file belongs to a sub-agent, which its program does not resume by itself.
    pub is_subagent: bool,
    /// Whether the records say that the program has not finished its last turn, so that it may be at work.
    pub is_running: bool,
    /// The records that the program does not send: other branches, text before a compaction, notes.
    pub inactive: usize,
}

impl Reading {
    /// Takes the records without a message as a part of the conversation, for programs that send all records.
    pub(crate) fn of_all(self, records: usize) -> Self {
        let shown: HashSet<usize> = self.messages.iter().flat_map(CarriedMessage::records).collect();
        Self { unshown: (0..records).filter(|record| !shown.contains(record)).collect(), ..self }
    }

    /// Takes the texts of the messages as a list. Without messages there is no body.
    pub(crate) fn set_texts(&mut self, list: MessageList) {
        self.whole = (!self.messages.is_empty()).then(|| list.behind(&self.opening(0)));
    }

    /// The messages as a request body.
    pub fn body(&self) -> String {
        if let Some(body) = &self.whole {
            return format!("{body}]}}");
        }
        let texts = self.messages.iter().map(|message| message.text.as_str());
        let length: usize = texts.clone().map(|text| text.len() + 1).sum();
        let mut body = self.opening(length);
        for (index, text) in texts.enumerate() {
            body += if index > 0 { "," } else { "" };
            body += text;
        }
        body + "]}"
    }

    /// The messages as a request body. Their texts are removed, so that a long conversation is not in memory twice.
    pub fn take_body(&mut self) -> String {
        if let Some(body) = self.whole.take() {
            return body + "]}";
        }
        let length: usize = self.messages.iter().map(|message| message.text.len() + 1).sum();
        let mut body = self.opening(length);
        for (index, message) in self.messages.iter_mut().enumerate() {
            body += if index > 0 { "," } else { "" };
            body += &std::mem::take(&mut message.text);
        }
        body + "]}"
    }

    /// A body up to its first message, with room for the bytes of the messages.
    fn opening(&self, length: usize) -> String {
        let list = seamline_dialects::by_name(self.dialect).map_or("messages", Dialect::list);
        let model = self.about.model.as_deref().map(|model| format!("\"model\":{},", crate::json::quoted(model)));
        let model = model.unwrap_or_default();
        let mut body = String::with_capacity(length + model.len() + 64);
        body.extend(["{", &model, "\"", list, "\":["]);
        body
    }
}
