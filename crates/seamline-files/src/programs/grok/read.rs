//! Reads the conversation that Grok would send: the messages of `chat_history.jsonl`, in their order.
//!
//! A rewind cuts that file. `updates.jsonl` repeats the session for the screen and holds no conversation.

use super::message::message;
use crate::json::{Object, members};
use crate::lines;
use crate::session::{About, CarriedMessage, FileInput, FileReading, Reading};

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut about = About { id: id(input.name), ..About::default() };
    let mut messages = Vec::new();
    let mut count = 0;
    let lines = lines::read(input.bytes, &mut |text| {
        members(text, &[])?;
        let record = content.keep(text);
        if let Some(record) = Object::of(&record) {
            messages.extend(message(&record).map(|message| CarriedMessage::of(count, message.carried())));
            if let Some(model) = record.string("model_id") {
                about.model = Some(model);
            }
        }
        count += 1;
        Ok(())
    })?;
    about.inactive = count - messages.len();
    // Grok speaks Responses to its own provider and gives calls its own form. What all providers demand is left.
    let (dialect, provider) = ("openai_chat", Some("openai-compatible"));
    let session = Reading { dialect, provider, messages, about, ..Reading::default() }.of_all(count);
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}

/// The id of a session: the name of its folder, which is a UUID.
fn id(name: &str) -> Option<String> {
    let folder = name.rsplit(['/', '\\']).nth(1)?;
    let is_uuid = folder.len() == 36 && folder.split('-').count() == 5;
    is_uuid.then(|| folder.to_owned())
}
