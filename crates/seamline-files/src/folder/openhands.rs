//! `OpenHands`: a folder for each conversation, with its state and a file for each event.

use std::path::Path;

use serde_json::Value;

use super::layout::{FolderLayout, FolderSession, List, has_folder, names};
use crate::programs::openhands::{FORMAT, PROGRAM};
use crate::sample::has;

/// The state of a conversation, the folder of its events, and the start of their names.
const STATE: &str = "base_state.json";
const EVENTS: &str = "events";
const EVENT: &str = "event-";

pub(super) static LAYOUT: FolderLayout = FolderLayout {
    program: &PROGRAM,
    format: &FORMAT,
    sessions,
    is_part: |sample| {
        let root = sample.root();
        let kind = root.get("kind").and_then(Value::as_str).unwrap_or_default();
        let is_event = (kind.ends_with("Event") || kind.ends_with("Observation") || kind == "Condensation")
            && has(root, &["id", "timestamp", "source"]);
        !sample.is_lines() && is_event || sample.is_named(&[STATE])
    },
    folder_of: |path, _| {
        let folder = path.parent()?;
        let is_events = folder.file_name().is_some_and(|name| name == EVENTS);
        let is_state = path.file_name().is_some_and(|name| name == STATE);
        if is_events { Some(folder.parent()?.to_owned()) } else { is_state.then(|| folder.to_owned()) }
    },
    // The program reads the events by their numbers and stops at a missing one.
    number: |name| name.strip_prefix(EVENT)?.split(['-', '.']).next()?.parse().ok(),
};

fn sessions(folder: &Path, list: List<'_>) -> Option<Vec<FolderSession>> {
    let entries = list(folder);
    let is_state = entries.iter().any(|entry| entry.name == STATE);
    // Only the names of the events tell their order.
    let events = if has_folder(&entries, EVENTS) { names(list, &folder.join(EVENTS), EVENT) } else { Vec::new() };
    if events.is_empty() {
        return None;
    }
    let mut files = Vec::with_capacity(events.len() + 1);
    files.extend(is_state.then(|| folder.join(STATE)));
    files.extend(events.iter().map(|event| folder.join(EVENTS).join(event)));
    let id = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Some(vec![FolderSession { id, folder: folder.to_owned(), files }])
}
