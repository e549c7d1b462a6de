//! Reads the conversation that the OpenAI Agents SDK would send: all items of a session, in the order of their rows.

use crate::json::{members, string};
use crate::lines;
use crate::session::{About, CarriedMessage, FileInput, FileReading, Reading};

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut about = About::default();
    let mut messages = Vec::new();
    let mut count = 0;
    let lines = lines::read(input.bytes, &mut |text| {
        let [session, updated, kind, role] = members(text, &["session_id", "updated_at", "type", "role"])?;
        match session.filter(|_| kind.is_none() && role.is_none()) {
            Some(session) => (about.id, about.updated) = (string(session), updated.and_then(string)),
            None => messages.push(CarriedMessage::of(count, content.keep(text).into_owned())),
        }
        count += 1;
        Ok(())
    })?;
    // New items go behind the row of the session.
    let chain = messages.iter().map(|message| message.record).collect();
    let (dialect, provider) = ("openai_responses", Some("openai"));
    let session = Reading { dialect, provider, messages, chain, about, ..Reading::default() };
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}
