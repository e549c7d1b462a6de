//! Temporary files that a killed process left behind.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The age of a draft that may be removed. A process creates a draft and locks it within this time.
const AGE: Duration = Duration::from_secs(10);

/// The number of random characters in the name of a draft.
const RANDOM_LEN: usize = 6;

/// Marks a draft as one of a living process: the system releases the lock when the process ends.
pub(super) fn hold(draft: &File) {
    // On a file system without locks drafts of dead processes stay, and so do those of living ones.
    let _ = draft.try_lock();
}

/// Whether a name is that of a draft of a file that a command replaces: `.NAME.a1B2c3.seamline`.
pub(super) fn is_of_target(name: &str) -> bool {
    let inside = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".seamline"));
    let random = inside.and_then(|inside| inside.rsplit_once('.')).map(|(_, random)| random);
    random.is_some_and(is_random)
}

/// Whether a name is that of a draft in the state folder: `.tmpa1B2c3.draft`.
pub(super) fn is_of_state(name: &str) -> bool {
    let random = name.strip_prefix(".tmp").and_then(|rest| rest.strip_suffix(".draft"));
    random.is_some_and(is_random)
}

fn is_random(text: &str) -> bool {
    text.len() == RANDOM_LEN && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes the drafts in a folder whose processes have ended. Each folder is searched once per process. A draft that
/// cannot be removed stays; it does no harm.
pub(super) fn remove_stale(folder: &Path, is_draft: fn(&str) -> bool) {
    static SEARCHED: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut searched = SEARCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = searched.get_or_insert_default().insert(folder.to_owned());
    drop(searched);
    let Ok(entries) = (if is_new { std::fs::read_dir(folder) } else { return }) else { return };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_name().to_str().is_some_and(is_draft) && is_stale(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Removes the drafts of one file whose processes have ended, however young they are. The caller holds the lock of the
/// file, so no other process creates a draft of it.
pub(super) fn remove_of(target: &Path) {
    let Some(name) = target.file_name().and_then(|name| name.to_str()) else { return };
    let Ok(entries) = std::fs::read_dir(super::replace::folder(target)) else { return };
    let is_own = |draft: &str| {
        let rest = draft.strip_prefix('.').and_then(|rest| rest.strip_prefix(name)?.strip_prefix('.'));
        rest.and_then(|rest| rest.strip_suffix(".seamline")).is_some_and(is_random)
    };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
        if entry.file_name().to_str().is_some_and(is_own) && is_file && (is_same(&path, target) || is_free(&path)) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether a draft is only a second name of its target.
#[cfg(unix)]
fn is_same(draft: &Path, target: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let file = |path: &Path| path.symlink_metadata().map(|found| (found.dev(), found.ino())).ok();
    file(draft).is_some() && file(draft) == file(target)
}

#[cfg(not(unix))]
fn is_same(_: &Path, _: &Path) -> bool {
    false
}

/// Whether no living process holds a draft. A lock can be taken only if its process has ended.
fn is_stale(path: &Path) -> bool {
    let Ok(found) = path.symlink_metadata() else { return false };
    let age = found.modified().ok().and_then(|time| time.elapsed().ok());
    if !found.is_file() || age.is_none_or(|age| age < AGE) {
        return false;
    }
    is_free(path)
}

/// Whether the lock of a draft can be taken.
fn is_free(path: &Path) -> bool {
    OpenOptions::new().append(true).open(path).is_ok_and(|draft| draft.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_drafts_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * AGE;
        let make = |name: &str| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(old).unwrap();
            file
        };
        drop(make(".body.json.aB3xYz.seamline"));
        let live = make(".body.json.live00.seamline");
        hold(&live);
        for name in [".seamline", ".body.seamline", "body.json.aB3xYz.seamline", ".body.json.toolong.seamline"] {
            drop(make(name));
        }
        drop(File::create(folder.path().join(".young.json.aB3xYz.seamline")).unwrap());
        remove_stale(folder.path(), is_of_target);
        let mut left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let wanted = [
            ".body.json.live00.seamline",
            ".body.json.toolong.seamline",
            ".body.seamline",
            ".seamline",
            ".young.json.aB3xYz.seamline",
            "body.json.aB3xYz.seamline",
        ];
        assert_eq!(left, wanted);
        let target = folder.path().join("young.json");
        std::fs::write(&target, "{}").unwrap();
        std::fs::hard_link(&target, folder.path().join(".young.json.aB3xY1.seamline")).unwrap();
        let held = File::open(&target).unwrap();
        hold(&held);
        remove_of(&target);
        let is_left = |name: &str| folder.path().join(name).exists();
        assert!(!is_left(".young.json.aB3xYz.seamline") && !is_left(".young.json.aB3xY1.seamline"));
        assert!(is_left(".body.json.live00.seamline") && is_left("young.json"));
        assert!(is_of_state(".tmpa1B2c3.draft") && !is_of_state("tmpa1B2c3.draft"));
    }
}
