//! The OpenAI Agents SDK: databases of sessions, and states of runs.
//!
//! A database has one row for each item of a conversation. The rows are read as the lines of a file: first the session, then
//! one item per line. The saved state of a run is only recognised.

mod read;

use crate::Program;
use crate::sample::{Sample, has};
use crate::session::{Format, Writer};

/// The databases of `SQLiteSession`.
pub(crate) const PROGRAM: Program = Program {
    advice: "`sqlite3 FILE 'select message_data from agent_messages order by id' | jq -s '{input: .}' | seamline check -` checks a database with one session",
    ..Program::of_sessions(
        "OpenAI Agents SDK",
        "a database of sessions of the OpenAI Agents SDK",
        |sample| sample.has_schema(&["CREATE TABLE", "agent_messages", "message_data"]),
        &ROWS,
    )
};

/// The saved states of runs.
pub(super) const STATE: Program = Program {
    advice: "`RunState.from_json` continues the run; give the request body that the SDK then sends",
    ..Program::recognised("OpenAI Agents SDK", "the saved state of a run of the OpenAI Agents SDK", is_state)
};

pub(crate) static ROWS: Format = Format { write: Some(|repair| repair.write(&WRITER)), ..Format::of_lines(read::read) };

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
