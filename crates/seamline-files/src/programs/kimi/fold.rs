//! The history that Kimi CLI makes of its records: steps become messages, and later records take messages back.

use std::collections::HashSet;

use crate::native::message::{Call, Message, Role};

/// A message of the history.
pub(super) struct Entry {
    /// The first record of the message.
    pub(super) record: usize,
    pub(super) message: Message,
    /// The records of its calls.
    pub(super) calls: Vec<usize>,
    pub(super) origin: Origin,
}

/// Where a message comes from, as far as it decides what a compaction or an undo takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The user typed it.
    User,
    /// The program put it into the conversation.
    Injection,
    /// It is the summary of a compaction.
    Summary,
    Other,
}

/// The history while records are read.
#[derive(Default)]
pub(super) struct History {
    pub(super) entries: Vec<Entry>,
    /// The step that is open: its id and the index of its entry.
    open: Option<(String, usize)>,
    /// The ids of the calls without a result.
    pending: HashSet<String>,
    /// Messages that came while calls had no result.
    deferred: Vec<Entry>,
}

/// A compaction.
pub(super) struct Compaction {
    pub(super) record: usize,
    pub(super) summary: String,
    /// The number of messages that the summary replaces.
    pub(super) replaced: usize,
    /// The number of messages of the user that stay, and how many of them are the first ones; nothing in older files, where
    /// all messages behind the replaced ones stay.
    pub(super) kept: Option<(usize, usize)>,
}

impl History {
    pub(super) fn append(&mut self, entry: Entry) {
        if self.pending.is_empty() {
            self.entries.push(entry);
        } else {
            self.deferred.push(entry);
        }
    }

    /// A step begins. Calls that have no result now never get one.
    pub(super) fn begin(&mut self, record: usize, step: String) {
        self.settle();
        let message = Message::said(Role::Assistant, String::new());
        self.entries.push(Entry { record, message, calls: Vec::new(), origin: Origin::Other });
        self.open = Some((step, self.entries.len() - 1));
    }

    pub(super) fn end(&mut self, step: &str) {
        if self.is_open(step) {
            self.open = None;
        }
    }

    /// Whether a step is open.
    pub(super) fn is_open(&self, step: &str) -> bool {
        self.open.as_ref().is_some_and(|(open, _)| open == step)
    }

    pub(super) fn say(&mut self, text: &str) {
        if let Some(entry) = self.opened() {
            let said = &mut entry.message.text;
            if !said.is_empty() {
                said.push('\n');
            }
            said.push_str(text);
        }
    }

    pub(super) fn call(&mut self, record: usize, call: Call) {
        self.pending.extend(call.id.clone());
        if let Some(entry) = self.opened() {
            entry.message.calls.push(call);
            entry.calls.push(record);
        }
    }

    fn opened(&mut self) -> Option<&mut Entry> {
        let (_, index) = self.open.as_ref()?;
        self.entries.get_mut(*index)
    }

    /// The record of the step that is open.
    pub(super) fn opened_record(&self) -> Option<usize> {
        let (_, index) = self.open.as_ref()?;
        self.entries.get(*index).map(|entry| entry.record)
    }

    /// A tool ended. The program leaves out results that no call waits for.
    pub(super) fn answer(&mut self, record: usize, id: String, text: String) {
        if !self.pending.remove(&id) {
            return;
        }
        let message = Message { call_id: Some(id), ..Message::said(Role::Tool, text) };
        self.entries.push(Entry { record, message, calls: Vec::new(), origin: Origin::Other });
        if self.pending.is_empty() {
            self.entries.append(&mut self.deferred);
        }
    }

    /// Closes the open step, forgets pending calls and adds the deferred messages.
    pub(super) fn settle(&mut self) {
        self.open = None;
        self.pending.clear();
        self.entries.append(&mut self.deferred);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes back the last messages up to a number of messages of the user.
    pub(super) fn undo(&mut self, count: usize) {
        let mut left = count;
        let mut index = self.entries.len();
        while index > 0 && left > 0 {
            index -= 1;
            match self.entries[index].origin {
                Origin::Injection => continue,
                Origin::Summary => break,
                Origin::User => left -= 1,
                Origin::Other => {}
            }
            self.entries.remove(index);
        }
        (self.open, self.deferred) = (None, Vec::new());
        self.pending.clear();
    }

    pub(super) fn compact(&mut self, compaction: Compaction) {
        let message = Message::said(Role::User, compaction.summary);
        let summary = Entry { record: compaction.record, message, calls: Vec::new(), origin: Origin::Summary };
        let mut entries = std::mem::take(&mut self.entries);
        self.clear();
        match compaction.kept {
            None => {
                self.entries.push(summary);
                self.entries.extend(entries.drain(compaction.replaced.min(entries.len())..));
            }
            Some((kept, first)) => {
                entries.retain(|entry| entry.origin == Origin::User);
                let dropped = first.min(entries.len())..entries.len().saturating_sub(kept.saturating_sub(first));
                if dropped.start < dropped.end {
                    entries.drain(dropped);
                }
                self.entries.extend(entries);
                self.entries.push(summary);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(history: &mut History, texts: &[&str]) {
        for text in texts {
            let message = Message::said(Role::User, (*text).to_owned());
            let origin = if text.starts_with('<') { Origin::Injection } else { Origin::User };
            history.append(Entry { record: 0, message, calls: Vec::new(), origin });
        }
    }

    fn texts(history: &History) -> Vec<&str> {
        history.entries.iter().map(|entry| entry.message.text.as_str()).collect()
    }

    #[test]
    fn a_compaction_keeps_the_first_and_the_last_messages_of_the_user() {
        let compaction = |kept| Compaction { record: 0, summary: "summary".to_owned(), replaced: 2, kept };
        let mut history = History::default();
        said(&mut history, &["a", "<b>", "c", "d", "e"]);
        history.compact(compaction(Some((2, 1))));
        assert_eq!(texts(&history), ["a", "e", "summary"]);

        let mut history = History::default();
        said(&mut history, &["a", "b", "c"]);
        history.compact(compaction(None));
        assert_eq!(texts(&history), ["summary", "c"]);
    }

    #[test]
    fn an_undo_takes_messages_back_up_to_the_summary() {
        let mut history = History::default();
        history.compact(Compaction { record: 0, summary: "summary".to_owned(), replaced: 0, kept: None });
        said(&mut history, &["a", "<b>", "c"]);
        history.undo(1);
        assert_eq!(texts(&history), ["summary", "a", "<b>"]);
        history.undo(5);
        assert_eq!(texts(&history), ["summary", "<b>"]);
    }
}
