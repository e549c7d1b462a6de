//! Real sessions, if `SEAMLINE_CORPUS` points at them: healthy ones have no error and stay byte-identical, and broken ones
//! are repaired.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use seamline::{Finding, Options, Severity, files};
use serde_json::Value;

/// Formats of the manifest that are not session files of a program.
const OTHERS: &[&str] = &["recorded-response", "provider-requests", "misc", "messages-body", "gemini-contents"];

/// The manifest's names of defects, and the codes of the findings that report them.
const KINDS: &[(&str, &[&str])] = &[
    ("duplicate", &["FILE009"]),
    ("head_missing", &["FILE008"]),
    ("dangling_parent", &["FILE007"]),
    ("open_call_at_tail", &["PAIR001"]),
    ("glued_records", &["FILE001"]),
    ("orphan_result", &["PAIR002"]),
    ("orphan_calls_in_aborted_turns", &["FILE013"]),
    ("compaction firstKeptEntryId missing", &["FILE012"]),
    ("orphan_call_before_compact_boundary", &[]),
];

#[derive(Default)]
struct Row {
    files: usize,
    read: usize,
    healthy: usize,
    broken: usize,
    codes: BTreeMap<&'static str, usize>,
}

#[test]
fn healthy_sessions_stay_as_they_are_and_broken_ones_are_repaired() {
    let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS").map(PathBuf::from) else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(corpus.join("MANIFEST.jsonl")).unwrap().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let (file, format) = (text("file"), text("format"));
        if OTHERS.contains(&format.as_str()) {
            continue;
        }
        let row = rows.entry(format).or_default();
        row.files += 1;
        let is_real = entry["real"].as_bool().unwrap_or_default();
        if let Err(why) = judge(&corpus.join(&file), &text("known_broken"), is_real, row) {
            wrong.push(format!("{file}: {why}"));
        }
    }
    println!("{:<24}{:>8}{:>8}{:>9}{:>8}  findings", "program", "files", "read", "healthy", "broken");
    for (program, row) in &rows {
        let codes: Vec<String> = row.codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
        println!(
            "{program:<24}{:>8}{:>8}{:>9}{:>8}  {}",
            row.files,
            row.read,
            row.healthy,
            row.broken,
            codes.join(", ")
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn judge(path: &Path, broken: &str, is_real: bool, row: &mut Row) -> Result<(), String> {
    let bytes = bytes_of(path);
    let name = path.display().to_string();
    let options = Options::default();
    let checked = files::check(&name, &mut &bytes[..], &options).map_err(|error| error.to_string())?;
    let Some(checked) = checked else { return Ok(()) };
    row.read += 1;
    for finding in &checked.findings {
        *row.codes.entry(finding.code).or_default() += 1;
    }
    let repaired = files::repair(&name, &bytes, &options).map_err(|error| error.to_string())?.unwrap();
    let listed = |findings: &[Finding]| {
        let lines = findings.iter().map(|found| format!("{} line {:?}: {}", found.code, found.line, found.message));
        lines.collect::<Vec<_>>().join("; ")
    };
    if broken.is_empty() {
        row.healthy += usize::from(checked.is_healthy());
        // The others are made up to show a form, and a provider would not accept some of them.
        if !is_real {
            return Ok(());
        }
        if !checked.is_healthy() {
            return Err(format!("a healthy session has errors: {}", listed(&checked.findings)));
        }
        if repaired.is_changed() {
            return Err(format!("a healthy session is changed: {}", listed(&checked.findings)));
        }
        return Ok(());
    }
    row.broken += 1;
    for (_, codes) in KINDS.iter().filter(|(word, codes)| broken.contains(word) && !codes.is_empty()) {
        if !checked.findings.iter().any(|finding| codes.contains(&finding.code)) {
            return Err(format!("{broken} is not found: {}", listed(&checked.findings)));
        }
    }
    let left: Vec<Finding> =
        repaired.remaining.iter().filter(|finding| finding.severity > Severity::Info).cloned().collect();
    if !left.is_empty() || repaired.refusal.is_some() {
        return Err(format!("{:?} {broken}: findings remain: {}", repaired.refusal, listed(&left)));
    }
    let again = files::repair(&name, &repaired.bytes, &options).unwrap().unwrap();
    if again.is_changed() {
        return Err("a second repair changes the file".to_owned());
    }
    Ok(())
}

/// The bytes of a session: of a file, or of the events in a folder, one per line.
fn bytes_of(path: &Path) -> Vec<u8> {
    if !path.is_dir() {
        return std::fs::read(path).unwrap();
    }
    let mut events: Vec<PathBuf> =
        std::fs::read_dir(path.join("events")).unwrap().map(|entry| entry.unwrap().path()).collect();
    events.sort();
    let lines: Vec<String> = events.iter().map(|event| std::fs::read_to_string(event).unwrap()).collect();
    lines.join("\n").into_bytes()
}
