//! Reads the conversation that Cline, Roo Code and Kilo Code would send.
//!
//! Roo Code keeps messages that a summary or a truncation replaced: they name it as their parent, and are hidden while it is
//! in the history.

use std::collections::HashSet;

use crate::json::{members, string};
use crate::list::{self, Shape};
use crate::session::{About, CarriedMessage, FileInput, FileReading, Reading, envelope_text, message_with};

const SHAPE: Shape = Shape {
    members: &["messages"],
    is_record: |text| {
        members(text, &["role", "content"]).is_ok_and(|[role, content]| role.is_some() && content.is_some())
    },
};

/// The members by which a message names what hides it, and by which a summary or a marker names itself.
const HIDDEN: [&str; 2] = ["condenseParent", "truncationParent"];
const HIDES: [&str; 2] = ["condenseId", "truncationId"];

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut shown: Vec<(usize, Vec<String>, String)> = Vec::new();
    let mut hiding = HashSet::new();
    let mut count = 0;
    let list = list::read(input.bytes, &SHAPE, &mut |text| {
        let [role] = members(text, &["role"])?;
        let names = |names: &[&str; 2]| -> Vec<String> {
            members(text, names)
                .map(|found| found.into_iter().flatten().filter_map(string).collect())
                .unwrap_or_default()
        };
        hiding.extend(names(&HIDES));
        // Reasoning items have no role.
        let message = role.and_then(|_| message_with(text, &["role", "content"], content));
        shown.extend(message.map(|message| (count, names(&HIDDEN), message)));
        count += 1;
        Ok(())
    })?;
    let is_shown = |hidden_by: &[String]| !hidden_by.iter().any(|id| hiding.contains(id));
    let messages: Vec<CarriedMessage> = shown
        .into_iter()
        .filter(|(_, hidden_by, _)| is_shown(hidden_by))
        .map(|(record, _, message)| CarriedMessage::of(record, message))
        .collect();
    let about = About { id: envelope_text(&list, "sessionId"), inactive: count - messages.len(), ..About::default() };
    let (dialect, provider) = ("anthropic_messages", Some("anthropic"));
    let session = Reading { dialect, provider, messages, about, ..Reading::default() };
    Ok(FileReading { records: list.records, damaged: list.damaged, session })
}
