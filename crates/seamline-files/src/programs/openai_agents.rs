//! The OpenAI Agents SDK: databases of sessions, and states of runs.

use crate::Program;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    name: "OpenAI Agents SDK",
    what: "a session of the OpenAI Agents SDK",
    places: &[],
    extract: None,
    advice: "`sqlite3 FILE 'select message_data from agent_messages order by id' | jq -s '{input: .}' | seamline check -` checks a database with one session",
    detect,
    session: None,
    bodies: None,
};

fn detect(sample: &Sample<'_>) -> bool {
    has(sample.root(), &["$schemaVersion"]) || sample.has_schema(&["CREATE TABLE", "agent_messages", "message_data"])
}
