//! The search for session files.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use seamline::files::{ALL, Program};

use crate::failure::Failure;
use crate::files::places::{below, start};
use crate::stored::{self, Store};

/// How deep folders are searched.
const DEPTH_MAX: usize = 16;
/// The folder names in the path of a place that mean every folder.
const ANY: &str = "*";
/// Folders without sessions that may be very large.
const SKIPPED: [&str; 2] = ["node_modules", ".git"];

/// A file that may be a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) modified: Option<SystemTime>,
    /// Whether the user named the file.
    pub(super) is_named: bool,
    /// The id of one session of a database; nothing means all of them.
    pub(super) session: Option<String>,
}

impl Candidate {
    pub(super) fn named(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            modified: path.metadata().and_then(|found| found.modified()).ok(),
            is_named: true,
            session: None,
        }
    }

    /// The sessions with a part of an id, if the file is a database; nothing if it is another file.
    pub(super) fn sessions_with(&self, id: &str) -> Option<Vec<Self>> {
        let store = Store::at(&self.path).ok()??;
        let sessions = store.sessions().unwrap_or_default().into_iter().filter(|session| session.has_id(id));
        Some(sessions.map(|session| Self { session: Some(session.id), ..self.clone() }).collect())
    }

    /// Whether a part of an id is in the name of the file.
    pub(super) fn has_name(&self, id: &str) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains(&id.to_lowercase())
    }
}

/// A folder that was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Searched {
    pub(crate) program: &'static str,
    pub(crate) folder: PathBuf,
}

/// The files of a search.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) found: Vec<Candidate>,
    /// The default folders of programs, whether they exist or not.
    pub(super) searched: Vec<Searched>,
    /// The folders that cannot be read.
    pub(super) unreadable: Vec<(PathBuf, Failure)>,
    seen: HashSet<PathBuf>,
}

impl Search {
    /// Searches the default places of programs, in the home folder of the user or in another one.
    pub(super) fn add_places(&mut self, home: Option<&Path>, is_wanted: impl Fn(&Program) -> bool) {
        for program in ALL.iter().filter(|program| is_wanted(program)) {
            for place in program.places {
                let Some(start) = start(place, home) else { continue };
                let path = below(start.clone(), place.path);
                let searched = Searched { program: program.name, folder: path };
                // A program with several kinds of files keeps them in one place.
                if !self.searched.contains(&searched) {
                    self.searched.push(searched);
                }
                for folder in expand(vec![start], place.path) {
                    self.add_folder(&folder, place.endings, DEPTH_MAX);
                }
            }
        }
    }

    /// Searches a folder for the files of all programs.
    pub(super) fn add_all_below(&mut self, folder: &Path) {
        let places = ALL.iter().flat_map(|program| program.places);
        let mut endings: Vec<&str> = places.flat_map(|place| place.endings.iter().copied()).collect();
        endings.extend([".json", ".jsonl", ".db", ".sqlite", ".sqlite3"]);
        self.add_folder(folder, &endings, DEPTH_MAX);
    }

    pub(super) fn add(&mut self, candidate: Candidate) {
        let real = candidate.path.canonicalize().unwrap_or_else(|_| candidate.path.clone());
        let name = candidate.session.as_ref().map_or(real.clone(), |session| real.join(session));
        if self.seen.insert(name) {
            self.found.push(candidate);
        }
    }

    fn add_folder(&mut self, folder: &Path, endings: &[&str], depth: usize) {
        // The files of such a folder are records of sessions.
        if stored::is_folder(folder)
            && let Ok(Some(store)) = Store::at(folder)
        {
            let (path, modified) = (folder.to_owned(), store.modified());
            return self.add(Candidate { path, modified, is_named: false, session: None });
        }
        let mut entries: Vec<_> = match std::fs::read_dir(folder) {
            Ok(entries) => entries.flatten().collect(),
            Err(error) => return self.note_unreadable(folder, &error),
        };
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = &*name.to_string_lossy();
            let kind = entry.file_type().ok();
            if kind.is_some_and(|kind| kind.is_dir()) {
                if depth > 0 && !SKIPPED.contains(&name) {
                    self.add_folder(&entry.path(), endings, depth - 1);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                // A link may lead to a file.
                let found = entry.path().metadata().ok().filter(std::fs::Metadata::is_file);
                if let Some(found) = found {
                    let modified = found.modified().ok();
                    self.add(Candidate { path: entry.path(), modified, is_named: false, session: None });
                }
            }
        }
    }

    /// Keeps why a folder cannot be read. An agent that was started by another user may have left it.
    fn note_unreadable(&mut self, folder: &Path, error: &std::io::Error) {
        let is_there = !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let is_new = || self.unreadable.iter().all(|(known, _)| known != folder);
        if is_there && is_new() {
            self.unreadable.push((folder.to_owned(), Failure::io("read", error)));
        }
    }

    /// The files that changed since a time, the newest first.
    pub(super) fn newest_first(&mut self, since: Option<SystemTime>) {
        self.found.retain(|file| file.is_named || since.is_none_or(|since| file.modified >= Some(since)));
        self.found.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.path.cmp(&other.path)));
    }
}

/// The folders that a path with `*` means.
fn expand(starts: Vec<PathBuf>, path: &str) -> Vec<PathBuf> {
    path.split('/').fold(starts, |folders, part| match part {
        ANY => folders.iter().flat_map(|folder| folders_in(folder)).collect(),
        _ => folders.into_iter().map(|folder| folder.join(part)).collect(),
    })
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_has_the_places_of_every_program_and_stars_mean_every_folder() {
        let home = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}").unwrap();
        };
        make(".claude/projects/-a/1.jsonl");
        make(".claude/projects/-a/1/subagents/agent-2.jsonl");
        make(".claude/projects/-a/notes.md");
        make(".claude/history.jsonl");
        make(".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json");
        make(".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/ui_messages.json");
        let mut search = Search::default();
        search.add_places(Some(home.path()), |_| true);
        let mut found: Vec<_> =
            search.found.iter().map(|file| file.path.strip_prefix(home.path()).unwrap().to_str().unwrap()).collect();
        found.sort_unstable();
        let expected = [
            ".claude/projects/-a/1.jsonl",
            ".claude/projects/-a/1/subagents/agent-2.jsonl",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
        ];
        assert_eq!(found, expected);
        assert!(search.searched.len() > 10);
    }
}
