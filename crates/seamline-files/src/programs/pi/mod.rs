//! `pi` and `OpenClaw`: session logs that begin with a record of type `session`.

pub(super) mod export;
mod path;
mod read;
mod write;

use serde_json::Value;

use crate::json::Object;
use crate::native::with_media;
use crate::sample::{Sample, has, says};
use crate::session::{About, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    places: &[
        SessionFolder::variable(("PI_CODING_AGENT_DIR", ".pi/agent"), "sessions", &[".jsonl"]),
        SessionFolder::variable(("OPENCLAW_STATE_DIR", ".openclaw"), "agents/*/sessions", &[".jsonl"]),
        SessionFolder::home(".clawdbot", "agents/*/sessions", &[".jsonl"]),
    ],
    extract: Some(r#"jq -s '{messages: [.[] | select(.type == "message") | .message]}' FILE"#),
    ..Program::of_sessions("pi or OpenClaw", "a session log of pi or OpenClaw", detect, &FORMAT)
};

/// The database that replaced the logs of `OpenClaw`.
pub(crate) const OPENCLAW: Program = Program {
    places: &[SessionFolder::variable(
        ("OPENCLAW_STATE_DIR", ".openclaw"),
        "agents/*/agent",
        &["openclaw-agent.sqlite"],
    )],
    ..Program::of_sessions(
        "OpenClaw",
        "a database of sessions of OpenClaw",
        |sample| sample.has_schema(&["CREATE TABLE", "transcript_events", "event_json"]),
        &ROWS,
    )
};

pub(crate) static ROWS: Format = Format {
    write: Some(write::write),
    media: Some(media),
    resume: |about| about.id.as_ref().map(|id| format!("openclaw agent --session-id {id}")),
    ..Format::of_lines(read::read)
};

static FORMAT: Format =
    Format { write: Some(write::write), resume, media: Some(media), ..Format::of_lines(read::read_log) };

/// The folders in which `OpenClaw` keeps its workspaces.
const OPENCLAW_FOLDERS: [&str; 2] = [".openclaw", ".clawdbot"];

fn media(record: &str, message: &str) -> Option<String> {
    with_media(message, Object::of(Object::of(record)?.get("message")?)?.get("content"))
}

fn resume(about: &About) -> Option<String> {
    let is_openclaw = |path: &str| path.split(['/', '\\']).any(|part| OPENCLAW_FOLDERS.contains(&part));
    if [&about.folder, &about.file].into_iter().flatten().any(|path| is_openclaw(path)) {
        return about.id.as_ref().map(|id| format!("openclaw agent --session-id {id}"));
    }
    Some("pi --session {FILE}".to_owned())
}

fn detect(sample: &Sample<'_>) -> bool {
    let is_header = |record: &Value| says(record, "type", &["session"]) && has(record, &["id", "timestamp", "cwd"]);
    // The header may be damaged or lost. The programs number the time of a message inside of it.
    let is_entry = |record: &Value| {
        let is_timed = || record["message"]["timestamp"].is_number() && has(&record["message"], &["role"]);
        has(record, &["timestamp"])
            && (says(record, "type", &["message"]) && is_timed()
                || says(record, "type", &["model_change", "thinking_level_change"]) && has(record, &["id", "parentId"]))
    };
    sample.any(is_header) || sample.is_lines() && sample.any(is_entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_or_the_file_tells_openclaw_from_pi() {
        let about =
            |folder: &str| About { id: Some("s1".to_owned()), folder: Some(folder.to_owned()), ..About::default() };
        let openclaw = Some("openclaw agent --session-id s1".to_owned());
        assert_eq!(resume(&about("/srv/a/.openclaw/workspace")), openclaw);
        let stored =
            About { file: Some("/srv/a/.openclaw/agents/main/sessions/s1.jsonl".to_owned()), ..about("/srv/a") };
        assert_eq!(resume(&stored), openclaw);
        assert_eq!(resume(&about("/srv/a/openclaw")), Some("pi --session {FILE}".to_owned()));
    }
}
