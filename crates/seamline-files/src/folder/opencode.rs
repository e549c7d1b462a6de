//! The older storage of opencode: a file for each session, each message, and each part of a message.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::layout::{FolderLayout, FolderSession, List, has_folder, names};
use crate::programs::opencode::{PROGRAM, ROWS};
use crate::sample::{Sample, has};

/// The folders of the storage.
const SESSIONS: &str = "session";
const MESSAGES: &str = "message";
const PARTS: &str = "part";

pub(super) static LAYOUT: FolderLayout = FolderLayout {
    program: &PROGRAM,
    format: &ROWS,
    sessions,
    is_part: |sample| {
        let root = sample.root();
        let is_session = has(root, &["id", "directory", "title", "time"]) && !has(root, &["messages"]);
        let is_stored =
            has(root, &["id", "sessionID"]) && (has(root, &["messageID", "type"]) || has(root, &["role", "time"]));
        !sample.is_lines() && (is_session || is_stored)
    },
    folder_of,
};

/// The sessions of the storage, or the one whose messages a folder has.
fn sessions(folder: &Path, list: List<'_>) -> Option<Vec<FolderSession>> {
    let entries = list(folder);
    if has_folder(&entries, MESSAGES) && (has_folder(&entries, SESSIONS) || has_folder(&entries, PARTS)) {
        let all = list(&folder.join(MESSAGES)).into_iter().filter(|entry| entry.is_folder);
        return Some(all.map(|entry| session(folder, &entry.name, list)).collect());
    }
    let is_messages = folder.parent()?.file_name().is_some_and(|name| name == MESSAGES);
    if !is_messages || names(list, folder, "").is_empty() {
        return None;
    }
    let id = folder.file_name()?.to_string_lossy();
    Some(vec![session(folder.parent()?.parent()?, &id, list)])
}

/// opencode orders messages and parts by their ids, which begin with the time.
fn session(storage: &Path, id: &str, list: List<'_>) -> FolderSession {
    let mut files: Vec<PathBuf> = Vec::new();
    let projects = storage.join(SESSIONS);
    for project in list(&projects).into_iter().filter(|entry| entry.is_folder) {
        let info = names(list, &projects.join(&project.name), id);
        let is_own = |name: &&String| name.strip_suffix(".json") == Some(id);
        files.extend(info.iter().find(is_own).map(|name| projects.join(&project.name).join(name)));
    }
    files.truncate(1);
    let folder = storage.join(MESSAGES).join(id);
    for message in names(list, &folder, "") {
        let parts = storage.join(PARTS).join(message.trim_end_matches(".json"));
        files.push(folder.join(&message));
        files.extend(names(list, &parts, "").iter().map(|part| parts.join(part)));
    }
    FolderSession { id: id.to_owned(), folder, files }
}

/// The folder with the messages of the session that a file belongs to.
fn folder_of(path: &Path, sample: &Sample<'_>) -> Option<PathBuf> {
    let root = sample.root();
    let id = root.get("sessionID").or_else(|| root.get("id")).and_then(Value::as_str)?;
    let is_storage = |folder: &&Path| {
        let is_known =
            [SESSIONS, MESSAGES, PARTS].iter().any(|name| folder.file_name().is_some_and(|own| own == *name));
        is_known && folder.parent().is_some()
    };
    let storage = path.ancestors().skip(1).find(is_storage)?.parent()?;
    Some(storage.join(MESSAGES).join(id))
}
