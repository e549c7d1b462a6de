//! The older storage of opencode: a file for each session, each message, and each part of a message, in two layouts.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::layout::{FolderLayout, FolderSession, List, has_folder, names};
use crate::programs::opencode::{PROGRAM, ROWS};
use crate::sample::{Sample, has};

/// The folders of the storage.
const SESSIONS: &str = "session";
const MESSAGES: &str = "message";
const PARTS: &str = "part";
/// The folder of the descriptions of sessions in the oldest layout.
const INFOS: &str = "info";

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
    number: |_| None,
};

/// The sessions of the storage, or the one whose messages a folder has.
fn sessions(folder: &Path, list: List<'_>) -> Option<Vec<FolderSession>> {
    if let Some(storage) = Storage::at(folder, list) {
        let all = list(&storage.root.join(MESSAGES)).into_iter().filter(|entry| entry.is_folder);
        return Some(all.map(|entry| storage.session(&entry.name, list)).collect());
    }
    let is_messages = folder.parent()?.file_name().is_some_and(|name| name == MESSAGES);
    if !is_messages || names(list, folder, "").is_empty() {
        return None;
    }
    let id = folder.file_name()?.to_string_lossy();
    let root = folder.parent()?.parent()?;
    let storage = Storage::at(root, list).unwrap_or(Storage { root: root.to_owned(), is_oldest: false });
    Some(vec![storage.session(&id, list)])
}

/// The folders of all sessions of a project.
struct Storage {
    root: PathBuf,
    /// Whether the storage is of the oldest layout: the descriptions of sessions are in one folder, and the parts of a message
    /// are in a folder of its session.
    is_oldest: bool,
}

impl Storage {
    /// The storage in a folder; nothing if the folder is another one.
    fn at(folder: &Path, list: List<'_>) -> Option<Self> {
        let entries = list(folder);
        if has_folder(&entries, MESSAGES) && has_folder(&entries, INFOS) {
            return Some(Self { root: folder.to_owned(), is_oldest: true });
        }
        if has_folder(&entries, MESSAGES) && (has_folder(&entries, SESSIONS) || has_folder(&entries, PARTS)) {
            return Some(Self { root: folder.to_owned(), is_oldest: false });
        }
        let inner = folder.join(SESSIONS);
        let entries = if has_folder(&entries, SESSIONS) { list(&inner) } else { Vec::new() };
        let is_oldest = has_folder(&entries, MESSAGES) && has_folder(&entries, INFOS);
        is_oldest.then_some(Self { root: inner, is_oldest })
    }

    /// opencode orders messages and parts by their ids, which begin with the time.
    fn session(&self, id: &str, list: List<'_>) -> FolderSession {
        let mut files: Vec<PathBuf> = self.description(id, list).into_iter().collect();
        let folder = self.root.join(MESSAGES).join(id);
        let parts = self.root.join(PARTS);
        let parts = if self.is_oldest { parts.join(id) } else { parts };
        for message in names(list, &folder, "") {
            let parts = parts.join(message.trim_end_matches(".json"));
            files.push(folder.join(&message));
            files.extend(names(list, &parts, "").iter().map(|part| parts.join(part)));
        }
        FolderSession { id: id.to_owned(), folder, files }
    }

    /// The file that describes a session.
    fn description(&self, id: &str, list: List<'_>) -> Option<PathBuf> {
        let own = |folder: PathBuf| {
            let is_own = |name: &String| name.strip_suffix(".json") == Some(id);
            names(list, &folder, id).into_iter().find(is_own).map(|name| folder.join(name))
        };
        if self.is_oldest {
            return own(self.root.join(INFOS));
        }
        let projects = self.root.join(SESSIONS);
        let folders = list(&projects).into_iter().filter(|entry| entry.is_folder);
        folders.map(|project| projects.join(project.name)).find_map(own)
    }
}

/// The folder with the messages of the session that a file belongs to.
fn folder_of(path: &Path, sample: &Sample<'_>) -> Option<PathBuf> {
    let root = sample.root();
    let id = root.get("sessionID").or_else(|| root.get("id")).and_then(Value::as_str)?;
    let is_storage = |folder: &&Path| {
        let is_known =
            [SESSIONS, MESSAGES, PARTS, INFOS].iter().any(|name| folder.file_name().is_some_and(|own| own == *name));
        is_known && folder.parent().is_some()
    };
    let storage = path.ancestors().skip(1).find(is_storage)?.parent()?;
    Some(storage.join(MESSAGES).join(id))
}
