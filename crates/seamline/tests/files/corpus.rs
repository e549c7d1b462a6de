//! Real sessions, if `SEAMLINE_CORPUS` points at them: every file is read, healthy ones have no error and stay
//! byte-identical, and broken ones are repaired. `seamline-cli` tests that `undo` restores them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use seamline::{Finding, Options, Severity, files};
use serde_json::Value;

/// The files that are not read, by the start of their path, and why.
const UNREAD: &[(&str, &str)] = &[
    (
        "misc/agent-sessions__Resources_Fixtures_stage0_agents_antigravity",
        "Antigravity keeps the conversation on its server",
    ),
    ("misc/VibeCodingTracker__tests_fixtures_sessions_dsh", "formats.md does not describe dsh"),
    ("misc/getspecstory__specstory-cli_pkg_providers_musecode", "formats.md does not describe Muse Code"),
    ("codex/agent-sessions__Resources_Fixtures_session_branch", "no version of Codex wrote such lines"),
    ("codex/agent-sessions__Resources_Fixtures_session_toolcall", "no version of Codex wrote such lines"),
    ("openai-agents-runstate/", "the SDK continues a saved run from its own objects, which are only recognised"),
    ("provider-requests/", "recorded requests, which the tests of the rules read"),
    ("streams/", "recorded responses, which the tests of the streams read"),
];

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

/// The files of one format.
#[derive(Default)]
struct Row {
    sessions: usize,
    healthy: usize,
    broken: usize,
    unread: usize,
    /// The findings by their code and name.
    kinds: BTreeMap<(&'static str, &'static str), usize>,
}

/// The outcome of a check and a repair of a file.
struct Judged {
    findings: Vec<Finding>,
    is_changed: bool,
    remaining: Vec<Finding>,
    refusal: Option<&'static str>,
    is_changed_again: bool,
}

impl Judged {
    fn is_healthy(&self) -> bool {
        !self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

#[test]
fn healthy_sessions_stay_as_they_are_and_broken_ones_are_repaired() {
    let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS").map(PathBuf::from) else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut unread = vec![0; UNREAD.len()];
    for line in std::fs::read_to_string(corpus.join("MANIFEST.jsonl")).unwrap().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let (file, broken) = (text("file"), text("known_broken"));
        let row = rows.entry(text("format")).or_default();
        if let Some(at) = UNREAD.iter().position(|(start, _)| file.starts_with(start)) {
            unread[at] += 1;
            row.unread += 1;
            if !file.starts_with("provider-requests/")
                && !file.starts_with("streams/")
                && read(&corpus.join(&file)).is_ok()
            {
                wrong.push(format!("{file}: it is read, and the list says that it is not"));
            }
            continue;
        }
        row.sessions += 1;
        let is_real = entry["real"].as_bool().unwrap_or_default();
        let judged = read(&corpus.join(&file)).and_then(|judged| judge(&judged, &broken, is_real, row));
        wrong.extend(judged.err().map(|why| format!("{file}: {why}")));
    }
    println!("{}", table(&rows));
    for ((start, _), _) in UNREAD.iter().zip(unread).filter(|(_, count)| *count == 0) {
        wrong.push(format!("{start}: no file has this name"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table of the formats, and the files that are not read.
fn table(rows: &BTreeMap<String, Row>) -> String {
    let line = |cells: [&str; 6]| {
        let [format, sessions, healthy, broken, unread, kinds] = cells;
        format!("{format:<24}{sessions:>9}{healthy:>9}{broken:>8}{unread:>8}  {kinds}\n")
    };
    let mut out = line(["format", "sessions", "healthy", "broken", "unread", "findings by kind"]);
    for (format, row) in rows {
        let kinds: Vec<String> =
            row.kinds.iter().map(|((code, name), count)| format!("{code} {name} {count}")).collect();
        let [sessions, healthy, broken, unread] =
            [row.sessions, row.healthy, row.broken, row.unread].map(|count| count.to_string());
        out += &line([format, &sessions, &healthy, &broken, &unread, &kinds.join(", ")]);
    }
    for (start, why) in UNREAD {
        out += &["not read: ", start, "…: ", why, "\n"].concat();
    }
    out
}

/// Checks and repairs a file: a session of a program, or a request body.
fn read(path: &Path) -> Result<Judged, String> {
    let bytes = bytes_of(path);
    let name = path.display().to_string();
    let options = Options::default();
    let failed = |error: seamline::Error| error.to_string();
    if let Some(program) = files::recognise(&name, &bytes).filter(|program| program.is_read()) {
        let checked = files::check(&name, &mut &bytes[..], &options).map_err(failed)?;
        let checked = checked.ok_or_else(|| format!("a file of {} is not read", program.name))?;
        let repaired = files::repair(&name, &bytes, &options).map_err(failed)?.unwrap();
        let again = files::repair(&name, &repaired.bytes, &options).map_err(failed)?.unwrap();
        return Ok(Judged {
            findings: checked.findings,
            is_changed: repaired.is_changed(),
            is_changed_again: again.is_changed(),
            refusal: repaired.refusal,
            remaining: repaired.remaining,
        });
    }
    let checked = seamline::check(&bytes, &options).map_err(failed)?;
    let repaired = seamline::repair(&bytes, &options).map_err(failed)?;
    let again = seamline::repair(&repaired.body, &options).map_err(failed)?;
    Ok(Judged {
        findings: checked.findings,
        is_changed: *repaired.body != *bytes,
        is_changed_again: *again.body != *repaired.body,
        refusal: None,
        remaining: repaired.remaining,
    })
}

fn listed(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|found| format!("{} line {:?}: {}", found.code, found.line, found.message));
    lines.collect::<Vec<_>>().join("; ")
}

fn judge(judged: &Judged, broken: &str, is_real: bool, row: &mut Row) -> Result<(), String> {
    for finding in &judged.findings {
        *row.kinds.entry((finding.code, finding.name)).or_default() += 1;
    }
    row.healthy += usize::from(judged.is_healthy());
    row.broken += usize::from(!judged.is_healthy());
    if broken.is_empty() {
        // The others are made up to show a form, and a provider would not accept some of them.
        if is_real && !judged.is_healthy() {
            return Err(format!("a healthy session has errors: {}", listed(&judged.findings)));
        }
        if judged.is_healthy() && judged.is_changed {
            return Err(format!("a healthy session is changed: {}", listed(&judged.findings)));
        }
    } else {
        for (_, codes) in KINDS.iter().filter(|(word, codes)| broken.contains(word) && !codes.is_empty()) {
            if !judged.findings.iter().any(|finding| codes.contains(&finding.code)) {
                return Err(format!("{broken} is not found: {}", listed(&judged.findings)));
            }
        }
    }
    let left: Vec<Finding> =
        judged.remaining.iter().filter(|finding| finding.severity > Severity::Info).cloned().collect();
    if !broken.is_empty() && (!left.is_empty() || judged.refusal.is_some()) {
        return Err(format!("{:?} {broken}: findings remain: {}", judged.refusal, listed(&left)));
    }
    if judged.is_changed_again {
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
