//! The messages of the carrier, and the parts that they are made of.

use super::part::Said;
use super::read::{Message, Session};
use crate::json::quoted;
use crate::native::message::{self, Role};
use crate::session::{CarriedMessage, KeptTexts};

/// A message of the carrier, with the records of its parts.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) message: message::Message,
    /// The record of the message itself.
    pub(super) record: usize,
    /// The time of the message, as JSON.
    pub(super) created: String,
    /// The records of the parts with text.
    pub(super) texts: Vec<usize>,
    /// The record of each call.
    pub(super) calls: Vec<usize>,
    /// The record of the call whose result the message is.
    pub(super) result_of: Option<usize>,
    /// The parts of the content, for a message of the user with files; and the record of each.
    files: Vec<(usize, String)>,
}

impl Session {
    /// The messages of the carrier.
    pub(super) fn shown(&self, active: &[usize]) -> Vec<Shown> {
        let mut shown = Vec::new();
        for index in active {
            let message = &self.messages[*index];
            let parts = self.parts_of(*index);
            if message.is_user {
                shown.extend(user(message, parts));
            } else if message.is_sent(parts) {
                assistant(message, parts, &mut shown);
            }
        }
        shown
    }
}

impl Message {
    /// Whether opencode sends a response: one that failed is left out, unless the user aborted it after it said something.
    fn is_sent(&self, parts: usize) -> bool {
        let says = |said: &Said| matches!(said, Said::Text(_) | Said::Call { .. } | Said::File(_));
        match self.error.as_deref() {
            None => true,
            Some("MessageAbortedError") => self.parts[..parts].iter().any(|part| says(&part.said)),
            Some(_) => false,
        }
    }

    fn shown(&self, role: Role) -> Shown {
        Shown {
            message: message::Message::said(role, String::new()),
            record: self.record,
            created: self.created.clone(),
            texts: Vec::new(),
            calls: Vec::new(),
            result_of: None,
            files: Vec::new(),
        }
    }
}

fn user(message: &Message, parts: usize) -> Option<Shown> {
    let mut shown = message.shown(Role::User);
    let mut texts: Vec<&str> = Vec::new();
    for part in &message.parts[..parts] {
        let text = match &part.said {
            Said::Text(text) => text.as_str(),
            Said::Compaction { .. } => "What did we do so far?",
            Said::File(file) => {
                shown.files.push((part.record, file.clone()));
                continue;
            }
            Said::Call { .. } | Said::Step | Said::Nothing => continue,
        };
        if text.is_empty() {
            continue;
        }
        texts.push(text);
        shown.texts.push(part.record);
        shown.files.push((part.record, text_part(text)));
    }
    shown.message.text = texts.join("\n");
    (!shown.files.is_empty()).then_some(shown)
}

fn text_part(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}

/// The messages of a response: one for each step, with the results of its calls behind it.
fn assistant(message: &Message, parts: usize, out: &mut Vec<Shown>) {
    let mut step = message.shown(Role::Assistant);
    let mut results = Vec::new();
    for part in &message.parts[..parts] {
        match &part.said {
            Said::Step => end_step(&mut step, &mut results, message, out),
            Said::Text(text) => {
                step.message.text += text;
                step.texts.push(part.record);
            }
            Said::Call { call, result } => {
                let index = Some(step.calls.len());
                step.message.calls.push(message::Call { index, ..call.clone() });
                step.calls.push(part.record);
                if let Some(text) = result {
                    let call_id = Some(call.id.clone().unwrap_or_default());
                    let said = message::Message { call_id, ..message::Message::said(Role::Tool, text.clone()) };
                    results.push(Shown { message: said, result_of: Some(part.record), ..message.shown(Role::Tool) });
                }
            }
            Said::File(_) | Said::Compaction { .. } | Said::Nothing => {}
        }
    }
    end_step(&mut step, &mut results, message, out);
}

fn end_step(step: &mut Shown, results: &mut Vec<Shown>, message: &Message, out: &mut Vec<Shown>) {
    let done = std::mem::replace(step, message.shown(Role::Assistant));
    // opencode sends the reasoning of such a step, which the carrier does not show.
    let is_blank = done.message.text.trim().is_empty() && done.message.calls.is_empty();
    if !is_blank {
        out.push(done);
        out.append(results);
    }
}

impl Shown {
    /// The message for a reading.
    pub(super) fn carried(&self, content: KeptTexts) -> CarriedMessage {
        let has_files = self.files.len() > self.texts.len();
        let text = if has_files || self.texts.len() > 1 && !self.files.is_empty() {
            let parts: Vec<&str> = self.files.iter().map(|(_, part)| part.as_str()).collect();
            format!(r#"{{"role":"user","content":[{}]}}"#, parts.join(","))
        } else {
            self.message.carried()
        };
        let owners = match self.message.role {
            Role::User => self.files.iter().map(|(record, _)| *record).collect(),
            Role::Tool | Role::System => Vec::new(),
            // A finding counts calls and parts of the content apart, and most are about calls.
            Role::Assistant if self.calls.is_empty() => self.texts.clone(),
            Role::Assistant => self.calls.clone(),
        };
        let record = self.result_of.unwrap_or(self.record);
        CarriedMessage {
            record,
            part: usize::from(self.result_of.is_some()),
            owners,
            text: content.keep(&text).into_owned(),
        }
    }

    /// Whether the carrier shows everything that the message says, so that a changed text can be given back.
    pub(super) fn is_text(&self) -> bool {
        self.files.len() <= 1 && self.texts.len() <= 1
    }
}
