//! Writes a repaired conversation as records of Grok.

use super::message;
use crate::session::{NewMessage, NewRecord, RecordRepair, Writer};

const WRITER: Writer = Writer { links: None, blocks: "content", rewrite: message::with_message, write: new_record };

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    repair.write(&WRITER)
}

fn new_record(new: &NewMessage<'_>) -> Option<String> {
    message::new_record(new.message)
}
