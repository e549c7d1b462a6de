//! Strands: the folder of a session has one file for each message. The files together, one message per line, are read.

use crate::Program;
use crate::json::members;
use crate::lines;
use crate::sample::{Sample, has};
use crate::session::{CarriedMessage, FileInput, FileReading, Format, Reading, message_with};

pub(super) const PROGRAM: Program = Program {
    advice: "Seamline does not write sessions of Strands; Strands itself answers calls that have no result",
    ..Program::of_sessions(
        "Strands",
        "messages of a session of Strands",
        |sample| sample.is_lines() && is_message(sample),
        &FORMAT,
    )
};

static FORMAT: Format = Format::of_lines(read);

/// A file with one message. A check needs all messages of its folder.
pub(super) const MESSAGE: Program = Program {
    advice: "`ls -v messages/message_*.json | xargs jq -c . | seamline check -` checks all messages of its folder",
    ..Program::recognised("Strands", "one message of a session of Strands", is_message)
};

fn is_message(sample: &Sample<'_>) -> bool {
    let message = sample.root().get("message");
    has(sample.root(), &["message_id"]) && message.is_some_and(|message| has(message, &["role", "content"]))
}

fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut messages = Vec::new();
    let mut count = 0;
    let lines = lines::read(input.bytes, &mut |text| {
        let [message] = members(text, &["message"])?;
        let message = message.and_then(|message| message_with(message, &["role", "content"], content));
        messages.extend(message.map(|message| CarriedMessage::of(count, message)));
        count += 1;
        Ok(())
    })?;
    let (dialect, provider) = ("bedrock_converse", Some("bedrock"));
    let session = Reading { dialect, provider, messages, ..Reading::default() };
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}
