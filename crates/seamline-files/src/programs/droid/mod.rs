//! Factory Droid: session logs, one record per line.

mod read;
mod write;

use crate::sample::{Sample, has, says};
use crate::session::{About, FileLayout, Format};
use crate::{Program, SessionFolder};

pub(super) const PROGRAM: Program = Program {
    name: "Factory Droid",
    what: "a session log of Factory Droid",
    places: &[SessionFolder::home(".factory", "sessions", &[".jsonl"])],
    extract: Some(r#"jq -s '{messages: [.[] | select(.type == "message") | .message]}' FILE"#),
    advice: Program::GIVE_BODY,
    detect,
    session: Some(&FORMAT),
    bodies: None,
};

static FORMAT: Format = Format { document: FileLayout::Lines, read: read::read, write: Some(write::write), resume };

fn resume(about: &About) -> Option<String> {
    about.id.as_ref().map(|id| format!("droid --resume {id}"))
}

fn detect(sample: &Sample<'_>) -> bool {
    sample.any(|record| says(record, "type", &["session_start"]) && has(record, &["id"]))
}
