//! Real broken sessions, if `SEAMLINE_CORPUS` points at them: `fix` repairs each of them, and `undo` restores its bytes.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::Bench;
use crate::session_files::age;

/// Broken files of programs that Seamline does not read.
const UNREAD: &[&str] = &["misc/getspecstory__specstory-cli_pkg_providers_musecode"];

#[test]
fn every_broken_session_is_repaired_and_restored() {
    let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS").map(PathBuf::from) else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in std::fs::read_to_string(corpus.join("MANIFEST.jsonl")).unwrap().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let file = entry["file"].as_str().unwrap();
        let is_broken = entry["known_broken"].as_str().is_some_and(|kinds| !kinds.is_empty());
        if is_broken && !UNREAD.iter().any(|start| file.starts_with(start)) {
            count += 1;
            wrong.extend(restore(&corpus.join(file)).err().map(|why| format!("{file}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 10, "only {count} broken sessions");
}

fn restore(path: &Path) -> Result<(), String> {
    let bench = Bench::new();
    let name = path.file_name().unwrap().to_str().unwrap();
    let before = std::fs::read(path).unwrap();
    let copy = bench.write(name, &before);
    age(&copy);
    let fixed = bench.run(&["fix", name]);
    if fixed.code != Some(0) {
        return Err(format!("fix ended with {:?}: {}", fixed.code, fixed.err));
    }
    if bench.run(&["check", name]).code != Some(0) {
        return Err("the repaired session has errors".to_owned());
    }
    if std::fs::read(&copy).unwrap() == before {
        // Its damage is not in the active conversation.
        return Ok(());
    }
    let undone = bench.run(&["undo", name]);
    if undone.code != Some(0) {
        return Err(format!("undo ended with {:?}: {}", undone.code, undone.err));
    }
    let is_restored = std::fs::read(&copy).unwrap() == before;
    if is_restored { Ok(()) } else { Err("undo does not restore the bytes".to_owned()) }
}
