//! opencode: exports, the files of its older storage, and the rows of its database.
//!
//! A session is described by one record, each message by another one, and each part of a message is a record of its own. A
//! tool call and its result are one part. The records have the same members everywhere: in the database they are rows, in
//! the older storage files, and in an export objects inside one document.

mod active;
mod part;
mod read;
mod show;
mod write;

use crate::sample::{Sample, has};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

pub(crate) const PROGRAM: Program = Program {
    places: &[SessionFolder::variable(SessionFolder::DATA, "opencode", &["opencode.db"])],
    ..Program::of_sessions("opencode", "a session of opencode", detect, &FORMAT)
};

/// An export, and one file of the older storage.
static FORMAT: Format = Format { write: Some(write::write), resume: import, ..Format::of_list(read::read) };

/// The rows of a database and the files of the older storage, one record per line.
pub(crate) static ROWS: Format = Format { write: Some(write::write), resume, ..Format::of_lines(read::read_rows) };

/// opencode continues the session of its own storage, so that an export has to go there first.
fn import(about: &About) -> Option<String> {
    resume(about).map(|resume| format!("opencode import {{FILE}} && {resume}"))
}

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().filter(|_| !about.is_subagent).map(|id| format!("opencode --session {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    let is_turn = |message: &_| has(message, &["info", "parts"]);
    let is_export = has(root, &["info"]) && sample.list("messages").iter().any(is_turn);
    let is_stored =
        has(root, &["id", "sessionID"]) && (has(root, &["messageID", "type"]) || has(root, &["role", "time"]));
    is_export || is_stored || sample.has_schema(&["CREATE TABLE", "part", "message_id", "session_id", "project_id"])
}
