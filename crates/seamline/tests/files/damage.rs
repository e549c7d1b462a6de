//! Healthy sessions are damaged as crashes, rival writers and lost records damage them. After the repair the conversation is
//! valid for its provider by a check that shares no code with the rules, and no readable word is lost.
//!
//! Without more, each format gets a few damaged files of each kind. `SEAMLINE_CORPUS` adds recorded sessions and
//! `SEAMLINE_SOAK` takes 200 damaged files of each kind.

#[path = "damage/bodies.rs"]
mod bodies;
#[path = "damage/documents.rs"]
mod documents;
#[path = "damage/lines.rs"]
mod lines;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use seamline::files::FileLayout;
use seamline::{Options, Severity, files};
use seamline_testkit::{Dialect, strict};
use serde_json::Value;

/// How many damaged files of each kind each format gets.
const FILES: usize = 8;
const FILES_SOAK: usize = 200;
/// The longest session that is damaged: what a repair does depends on the records and not on their number.
const BYTES_MAX: u64 = 400_000;

/// A kind of damage to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    Drop,
    Duplicate,
    Reorder,
    Tear,
    Glue,
    Splice,
    Nul,
    /// The records of a second writer, who continued from an earlier copy of the file.
    Interleave,
    LoseResult,
    LoseCall,
    LoseParent,
}

const KINDS: [Damage; 11] = [
    Damage::Drop,
    Damage::Duplicate,
    Damage::Reorder,
    Damage::Tear,
    Damage::Glue,
    Damage::Splice,
    Damage::Nul,
    Damage::Interleave,
    Damage::LoseResult,
    Damage::LoseCall,
    Damage::LoseParent,
];

/// A damaged file, and the words of its complete records.
struct Damaged {
    bytes: Vec<u8>,
    words: BTreeSet<String>,
}

/// A small generator of numbers: the same seed gives the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// A format: the name of its program, and how its files are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    program: &'static str,
    layout: &'static str,
}

impl Form {
    /// The format of a file that can be repaired.
    fn of(name: &str, bytes: &[u8]) -> Option<Self> {
        let program = files::recognise(name, bytes).filter(|program| program.is_written())?;
        let layout = match program.session {
            None => "bodies",
            Some(format) if format.document == FileLayout::Lines => "lines",
            Some(_) => "document",
        };
        Some(Self { program: program.name, layout })
    }

    /// Damages a file; nothing if this kind of damage cannot happen to it.
    fn damage(self, file: &str, kind: Damage, numbers: &mut Numbers) -> Option<Damaged> {
        match self.layout {
            "document" => documents::damage(file, kind, numbers),
            "bodies" => bodies::damage(file, kind, numbers),
            _ => lines::damage(file, kind, numbers),
        }
    }
}

#[test]
fn damaged_sessions_become_valid_and_lose_no_word() {
    let count = if std::env::var_os("SEAMLINE_SOAK").is_some() { FILES_SOAK } else { FILES };
    let mut rows: BTreeMap<Form, BTreeMap<Damage, [usize; 2]>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (form, sessions) in healthy() {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        for (kind, index) in KINDS.into_iter().flat_map(|kind| (0..count).map(move |index| (kind, index))) {
            let (name, file) = &sessions[index % sessions.len()];
            let Some(damaged) = form.damage(file, kind, &mut numbers) else { continue };
            let row = rows.entry(form).or_default().entry(kind).or_default();
            row[0] += 1;
            match judge(name, form, &damaged) {
                Ok(was_broken) => row[1] += usize::from(was_broken),
                Err(why) => wrong.push(format!("{name} {kind:?} {index}: {why}")),
            }
        }
    }
    println!("{}", table(&rows));
    let formats: Vec<&str> = rows.keys().map(|form| form.layout).collect();
    assert!(["lines", "document", "bodies"].iter().all(|layout| formats.contains(layout)), "{formats:?}");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// The table of programs and kinds of damage: how many damaged files were broken, of how many.
fn table(rows: &BTreeMap<Form, BTreeMap<Damage, [usize; 2]>>) -> String {
    let mut out = format!("{:<42}", "broken before the repair / damaged files");
    out.extend(KINDS.iter().map(|kind| format!("{:>12}", format!("{kind:?}"))));
    for (form, row) in rows {
        out.push_str(&["\n", &format!("{:<42}", format!("{} ({})", form.program, form.layout))].concat());
        let cell = |kind: &Damage| row.get(kind).map_or("-".to_owned(), |[files, broken]| format!("{broken}/{files}"));
        out.extend(KINDS.iter().map(|kind| format!("{:>12}", cell(kind))));
    }
    out
}

/// The healthy sessions of each format: the clean fixtures, and those of the corpus.
fn healthy() -> BTreeMap<Form, Vec<(String, String)>> {
    let mut paths = fixtures();
    if let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS").map(PathBuf::from) {
        paths.extend(recorded(&corpus));
    }
    paths.sort();
    let mut found: BTreeMap<Form, Vec<(String, String)>> = BTreeMap::new();
    for path in paths {
        let (name, Ok(file)) = (path.display().to_string(), std::fs::read_to_string(&path)) else { continue };
        let name = named(&name);
        let Some(form) = Form::of(&name, file.as_bytes()) else { continue };
        found.entry(form).or_default().push((name, file));
    }
    found
}

/// The name that a program gives to its files, where it helps to recognise a damaged one.
fn named(path: &str) -> String {
    let path = path.replace("mini_swe_agent/clean/input.json", "mini_swe_agent/clean/input.traj.json");
    path.replace("grok/clean/input.jsonl", "grok/clean/chat_history.jsonl")
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/files/sessions");
    let mut found = Vec::new();
    for program in std::fs::read_dir(root).unwrap() {
        let cases = std::fs::read_dir(program.unwrap().path()).unwrap().map(|case| case.unwrap());
        let clean = cases.filter(|case| case.file_name().to_string_lossy().split('-').any(|word| word == "clean"));
        let inputs = clean.flat_map(|case| ["input.jsonl", "input.json"].map(|name| case.path().join(name)));
        found.extend(inputs.filter(|path| path.exists()));
    }
    found
}

fn recorded(corpus: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in std::fs::read_to_string(corpus.join("MANIFEST.jsonl")).unwrap().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let is_healthy = entry["real"] == true && entry["known_broken"].is_null();
        let path = corpus.join(entry["file"].as_str().unwrap());
        let is_short = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= BYTES_MAX);
        if is_healthy && is_short && !path.starts_with(corpus.join("provider-requests")) {
            found.push(path);
        }
    }
    found
}

/// Repairs a damaged file. Returns whether it was broken.
fn judge(name: &str, form: Form, damaged: &Damaged) -> Result<bool, String> {
    let options = Options::default();
    let repaired = files::repair(name, &damaged.bytes, &options).map_err(|error| error.to_string())?;
    // A file with one record may be of any program.
    let is_alone = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() < 2;
    let Some(repaired) = repaired else {
        let lines = damaged.bytes.split(|byte| *byte == b'\n').count();
        return if lines < 3 { Ok(false) } else { Err("the program is not recognised any more".to_owned()) };
    };
    if let Some(why) = repaired.refusal {
        return Err(format!("refused: {why}"));
    }
    let left: Vec<String> = repaired
        .remaining
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| format!("{} line {:?}: {}", finding.code, finding.line, finding.message))
        .collect();
    if !left.is_empty() {
        return Err(format!("errors remain: {}", left.join("; ")));
    }
    let checked = files::check(name, &mut &*repaired.bytes, &options).map_err(|error| error.to_string())?;
    let Some(checked) = checked else {
        return if is_alone(&repaired.bytes) {
            Ok(true)
        } else {
            Err("the repaired file is not recognised".to_owned())
        };
    };
    let after = match form.layout {
        "document" => documents::words(&repaired.bytes)?,
        _ => lines::words(&repaired.bytes),
    };
    match form.layout {
        "bodies" => bodies::strictly_valid(&repaired.bytes)?,
        // A file that is cut before its first message has no conversation.
        _ if checked.messages > 0 => strictly_valid(checked.dialect, &checked.body)?,
        _ => {}
    }
    if let Some(lost) = damaged.words.difference(&after).next() {
        let is_reported = repaired.dropped.iter().any(|dropped| dropped.source.contains(&lost[..lost.len().min(20)]));
        if !is_reported {
            return Err(format!("lost: {}", lost.chars().take(100).collect::<String>()));
        }
    }
    let again = files::repair(name, &repaired.bytes, &options).map_err(|error| error.to_string())?;
    if again.is_some_and(|again| again.is_changed()) {
        return Err("a second repair changes the file".to_owned());
    }
    Ok(repaired.is_changed())
}

fn strictly_valid(dialect: &str, body: &str) -> Result<(), String> {
    let Some(dialect) = Dialect::ALL.iter().copied().find(|known| known.name() == dialect) else { return Ok(()) };
    let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let violations = strict::check(dialect, &body);
    match violations.first() {
        None => Ok(()),
        Some(first) => Err(format!("the strict check finds {first:?}")),
    }
}

/// The texts that people, models and tools wrote.
fn collect(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_str() {
                    Some(text)
                        if matches!(name.as_str(), "text" | "content" | "output" | "thinking") && text.len() > 3 =>
                    {
                        words.extend(text.split_whitespace().map(str::to_owned));
                    }
                    _ => collect(member, words),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|member| collect(member, words)),
        _ => {}
    }
}
