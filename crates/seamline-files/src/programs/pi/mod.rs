//! `pi` and `OpenClaw`: session logs that begin with a record of type `session`.

pub(super) mod export;
mod path;
mod read;
mod write;

use crate::sample::{Sample, has, says};
use crate::session::{About, FileLayout, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    name: "pi or OpenClaw",
    what: "a session log of pi or OpenClaw",
    places: &[
        SessionFolder::variable(("PI_CODING_AGENT_DIR", ".pi/agent"), "sessions", &[".jsonl"]),
        SessionFolder::variable(("OPENCLAW_STATE_DIR", ".openclaw"), "agents/*/sessions", &[".jsonl"]),
        SessionFolder::home(".clawdbot", "agents/*/sessions", &[".jsonl"]),
    ],
    extract: Some(r#"jq -s '{messages: [.[] | select(.type == "message") | .message]}' FILE"#),
    advice: Program::GIVE_BODY,
    detect,
    session: Some(&FORMAT),
    bodies: None,
};

/// The database that replaced the logs of `OpenClaw`.
pub(crate) const OPENCLAW: Program = Program {
    name: "OpenClaw",
    what: "a database of sessions of OpenClaw",
    places: &[SessionFolder::variable(
        ("OPENCLAW_STATE_DIR", ".openclaw"),
        "agents/*/agent",
        &["openclaw-agent.sqlite"],
    )],
    extract: None,
    advice: Program::GIVE_BODY,
    detect: |sample| sample.has_schema(&["CREATE TABLE", "transcript_events", "event_json"]),
    session: Some(&ROWS),
    bodies: None,
};

pub(crate) static ROWS: Format = Format {
    document: FileLayout::Lines,
    read: read::read,
    write: Some(write::write),
    resume: |about| about.id.as_ref().map(|id| format!("openclaw agent --session-id {id}")),
};

static FORMAT: Format = Format { document: FileLayout::Lines, read: read::read, write: Some(write::write), resume };

/// The folders in which `OpenClaw` keeps its workspaces.
const OPENCLAW_FOLDERS: [&str; 2] = [".openclaw", ".clawdbot"];

fn resume(about: &About) -> Option<String> {
    let folder = about.folder.as_deref().unwrap_or_default();
    if folder.split(['/', '\\']).any(|part| OPENCLAW_FOLDERS.contains(&part)) {
        return about.id.as_ref().map(|id| format!("openclaw agent --session-id {id}"));
    }
    Some("pi --session {FILE}".to_owned())
}

fn detect(sample: &Sample<'_>) -> bool {
    sample.any(|record| says(record, "type", &["session"]) && has(record, &["id", "timestamp", "cwd"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_tells_openclaw_from_pi() {
        let about =
            |folder: &str| About { id: Some("s1".to_owned()), folder: Some(folder.to_owned()), ..About::default() };
        let openclaw = Some("openclaw agent --session-id s1".to_owned());
        assert_eq!(resume(&about("/srv/a/.openclaw/workspace")), openclaw);
        assert_eq!(resume(&about("/srv/a/openclaw")), Some("pi --session {FILE}".to_owned()));
    }
}
