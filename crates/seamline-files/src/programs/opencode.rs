//! opencode: exports, the files of its older storage, and its database.

use crate::Program;
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program =
    Program { name: "opencode", what: "a session of opencode", extract: None, advice: Program::GIVE_BODY, detect };

fn detect(sample: &Sample<'_>) -> bool {
    let root = sample.root();
    let is_turn = |message: &_| has(message, &["info", "parts"]);
    let is_export = has(root, &["info"]) && sample.list("messages").iter().any(is_turn);
    let is_stored =
        has(root, &["id", "sessionID"]) && (has(root, &["messageID", "type"]) || has(root, &["role", "time"]));
    is_export || is_stored || sample.has_schema(&["CREATE TABLE", "part", "message_id", "session_id", "project_id"])
}
