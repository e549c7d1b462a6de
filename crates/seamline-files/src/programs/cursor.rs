//! The agent of Cursor: transcripts with one message per line.
//!
//! The calls in a transcript have no ids, and most results are in a database of Cursor. So only the texts are read.

use crate::Program;
use crate::json::{elements, members, string};
use crate::lines;
use crate::native::message::{Message, Role};
use crate::native::text::block_text;
use crate::sample::{Sample, has};
use crate::session::{About, CarriedMessage, FileInput, FileReading, Format, Reading};

pub(super) const PROGRAM: Program = Program {
    advice: "Seamline does not write transcripts of Cursor, which continues a session from its own database",
    ..Program::of_sessions("Cursor agent", "a transcript of the agent of Cursor", detect, &FORMAT)
};

static FORMAT: Format = Format::of_lines(read);

fn detect(sample: &Sample<'_>) -> bool {
    let is_message = |record: &serde_json::Value| {
        let content = record.get("message").and_then(|message| message.get("content"));
        has(record, &["role"]) && !has(record, &["type"]) && content.is_some_and(serde_json::Value::is_array)
    };
    is_message(sample.first_whole())
}

fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut messages = Vec::new();
    let mut count = 0;
    let lines = lines::read(input.bytes, &mut |text| {
        members(text, &[])?;
        let message = message(text).map(|message| content.keep(&message.carried()).into_owned());
        messages.extend(message.map(|message| CarriedMessage::of(count, message)));
        count += 1;
        Ok(())
    })?;
    let about = About { inactive: count - messages.len(), ..About::default() };
    let (dialect, provider) = ("openai_chat", Some("openai-compatible"));
    let session = Reading { dialect, provider, messages, about, ..Reading::default() }.of_all(count);
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}

fn message(record: &str) -> Option<Message> {
    let [role, message] = members(record, &["role", "message"]).ok()?;
    let role = match string(role?)?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let [content] = members(message?, &["content"]).ok()?;
    let texts: Vec<String> = elements(content?)?.into_iter().filter_map(block_text).collect();
    Some(Message::said(role, texts.join("\n"))).filter(|message| !message.text.trim().is_empty())
}
