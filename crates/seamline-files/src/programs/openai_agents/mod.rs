//! The OpenAI Agents SDK: databases of sessions, and states of runs.
//!
//! A database has one row for each item of a conversation. The rows are read as the lines of a file: first the session, then
//! one item per line. The saved state of a run is only recognised.

mod read;

use crate::Program;
use crate::sample::{Sample, has};
use crate::session::{FileLayout, Format, Writer};

/// The databases of `SQLiteSession`.
pub(crate) const PROGRAM: Program = Program {
    name: "OpenAI Agents SDK",
    what: "a database of sessions of the OpenAI Agents SDK",
    places: &[],
    extract: None,
    advice: "`sqlite3 FILE 'select message_data from agent_messages order by id' | jq -s '{input: .}' | seamline check -` checks a database with one session",
    detect: |sample| sample.has_schema(&["CREATE TABLE", "agent_messages", "message_data"]),
    session: Some(&ROWS),
    bodies: None,
};

/// The saved states of runs.
pub(super) const STATE: Program = Program {
    name: "OpenAI Agents SDK",
    what: "the saved state of a run of the OpenAI Agents SDK",
    places: &[],
    extract: None,
    advice: "`RunState.from_json` continues the run; give the request body that the SDK then sends",
    detect: is_state,
    session: None,
    bodies: None,
};

pub(crate) static ROWS: Format = Format {
    document: FileLayout::Lines,
    read: read::read,
    write: Some(|repair| repair.write(&WRITER)),
    resume: |_| None,
};

/// A record is an item, as the provider takes it.
const WRITER: Writer = Writer {
    links: None,
    blocks: "content",
    rewrite: |_, message| Some(message.to_owned()),
    write: |new| Some(new.message.to_owned()),
};

fn is_state(sample: &Sample<'_>) -> bool {
    has(sample.root(), &["$schemaVersion"])
}
