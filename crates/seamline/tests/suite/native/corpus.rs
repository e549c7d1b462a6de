//! Recorded sessions of `pi`, as message lists.

use std::path::{Path, PathBuf};

use seamline::Options;
use serde_json::Value;

/// The messages of a session log, in the order of its lines.
fn messages(log: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["type"] == "message").map(|line| line["message"].clone()).collect()
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let Ok(found) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut logs: Vec<PathBuf> = found.filter_map(|entry| Some(entry.ok()?.path())).collect();
    logs.sort();
    logs
}

#[test]
fn recorded_sessions_are_repaired_without_a_loss() {
    let Ok(corpus) = std::env::var("SEAMLINE_CORPUS") else { return };
    for log in ["pi", "openclaw"].iter().flat_map(|folder| logs(&Path::new(&corpus).join(folder))) {
        let messages = messages(&std::fs::read_to_string(&log).unwrap());
        let text = serde_json::to_string(&messages).unwrap();
        let repaired = seamline::repair(text.as_bytes(), &Options::default()).unwrap();
        println!(
            "{}: {} {} messages, {} findings, {} actions",
            log.display(),
            repaired.dialect,
            repaired.messages,
            repaired.found.len(),
            repaired.actions.len()
        );
        assert!(repaired.remaining.is_empty() && repaired.is_lossless(), "{} {:?}", log.display(), repaired.remaining);
        let after: Vec<Value> = serde_json::from_slice(&repaired.body).unwrap();
        let kept = after.iter().filter(|message| messages.contains(message)).count();
        assert!(kept + repaired.actions.len() >= messages.len(), "{}: {kept} of {}", log.display(), messages.len());
    }
}
