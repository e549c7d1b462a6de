//! Saved chats: a list of contents, or an object with it as `history`.

use crate::json::{Object, members};
use crate::list::{self, Shape};
use crate::session::{CarriedMessage, FileInput, FileReading, NewRecord, Reading, RecordRepair, Writer};

const SHAPE: Shape = Shape {
    members: &["history"],
    is_record: |text| matches!(members(text, &["role", "parts"]), Ok([Some(_), Some(_)])),
};

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut messages = Vec::new();
    let mut record = 0;
    let list = list::read(input.bytes, &SHAPE, &mut |text| {
        members(text, &[])?;
        messages.push(CarriedMessage::of(record, content.keep(text).into_owned()));
        record += 1;
        Ok(())
    })?;
    let (dialect, provider) = ("gemini_generate", Some("gemini"));
    let session = Reading { dialect, provider, messages, ..Reading::default() };
    Ok(FileReading { records: list.records, damaged: list.damaged, session })
}

const WRITER: Writer = Writer { links: None, blocks: "parts", rewrite, write: |new| Some(new.message.to_owned()) };

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    repair.write(&WRITER)
}

fn rewrite(_: &str, message: &str) -> Option<String> {
    Object::of(message).map(|_| message.to_owned())
}
