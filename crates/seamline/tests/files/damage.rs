//! Healthy sessions are damaged as crashes, rival writers and lost records damage them. After the repair the conversation is
//! valid for its provider by a check that shares no code with the rules, and no readable word is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use seamline::{Options, Severity, files};
use seamline_testkit::{Dialect, strict};
use serde_json::Value;

/// How many damaged files each healthy session gets; `cargo xtask soak` takes all of them.
const FILES: usize = 40;
const FILES_SOAK: usize = 200;

/// A kind of damage to a file with one record per line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    Drop,
    Duplicate,
    Reorder,
    Tear,
    Glue,
    Splice,
    Nul,
    /// The lines of a second writer, who continued from an earlier copy of the file.
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

#[test]
fn damaged_sessions_become_valid_and_lose_no_word() {
    let soak = std::env::var_os("SEAMLINE_SOAK").is_some();
    let mut rows: BTreeMap<(&'static str, Damage), [usize; 2]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in healthy() {
        let file = std::fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        let Some(program) = writable(&name, file.as_bytes()) else { continue };
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ file.len() as u64);
        for index in 0..if soak { FILES_SOAK } else { FILES } {
            let kind = KINDS[index % KINDS.len()];
            let damaged = damage(&file, kind, &mut numbers);
            let row = rows.entry((program, kind)).or_default();
            row[0] += 1;
            match judge(&name, &damaged) {
                Ok(was_broken) => row[1] += usize::from(was_broken),
                Err(why) => wrong.push(format!("{name} {kind:?} {index}: {why}")),
            }
        }
    }
    for ((program, kind), [files, broken]) in &rows {
        println!("{program:<20}{:<12}{files:>6} files, {broken:>5} broken before, 0 after", format!("{kind:?}"));
    }
    assert!(!rows.is_empty());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

/// The healthy sessions: the clean fixtures, and those of the corpus.
fn healthy() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/files/sessions");
    let mut found = Vec::new();
    for program in std::fs::read_dir(root).unwrap() {
        let cases = std::fs::read_dir(program.unwrap().path()).unwrap().map(|case| case.unwrap());
        let clean = cases.filter(|case| case.file_name().to_string_lossy().starts_with("clean"));
        found.extend(clean.map(|case| case.path().join("input.jsonl")).filter(|path| path.exists()));
    }
    if let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS").map(PathBuf::from) {
        for line in std::fs::read_to_string(corpus.join("MANIFEST.jsonl")).unwrap().lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            let is_healthy = entry["real"] == true && entry["known_broken"].is_null();
            let path = corpus.join(entry["file"].as_str().unwrap());
            if is_healthy
                && path.extension().is_some_and(|ending| ending == "jsonl")
                && !path.starts_with(corpus.join("provider-requests"))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The name of the program of a session that can be written.
fn writable(name: &str, bytes: &[u8]) -> Option<&'static str> {
    let program = files::recognise(name, bytes)?;
    program.session.filter(|format| format.is_writable()).map(|_| program.name)
}

#[expect(clippy::too_many_lines, reason = "a flat table of kinds of damage")]
fn damage(file: &str, kind: Damage, numbers: &mut Numbers) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = file.lines().map(|line| line.as_bytes().to_vec()).collect();
    let has = |line: &[u8], words: &[&str]| {
        let text = String::from_utf8_lossy(line);
        words.iter().any(|word| text.contains(word))
    };
    let results = ["tool_result", "toolResult", "_output\"", "functionResponse", "toolResponse", "execution_complete"];
    let calls = ["\"tool_use\"", "toolCall\"", "function_call\"", "functionCall", "toolRequest"];
    let places = |lines: &[Vec<u8>], words: &[&str], others: &[&str]| -> Vec<usize> {
        (1..lines.len()).filter(|at| has(&lines[*at], words) && !has(&lines[*at], others)).collect()
    };
    // The first line may be the header, without which no program reads the file.
    let at = 1 + numbers.below(lines.len().saturating_sub(1));
    let at = at.min(lines.len() - 1);
    let cut = |line: &[u8], numbers: &mut Numbers| {
        let mut end = 1 + numbers.below(line.len().saturating_sub(1));
        while !String::from_utf8_lossy(line).is_char_boundary(end.min(line.len())) {
            end -= 1;
        }
        line[..end].to_vec()
    };
    let mut end_cut = false;
    match kind {
        Damage::Drop | Damage::LoseParent => {
            lines.remove(at);
        }
        Damage::Duplicate => lines.insert(at, lines[at].clone()),
        Damage::Reorder => {
            let other = (at + 1).min(lines.len() - 1);
            lines.swap(at, other);
        }
        Damage::Tear => {
            lines.truncate(at + 1);
            lines[at] = cut(&lines[at].clone(), numbers);
            end_cut = true;
        }
        Damage::Glue => {
            if at + 1 < lines.len() {
                let next = lines.remove(at + 1);
                lines[at].extend(next);
            }
        }
        Damage::Splice => {
            let mut line = cut(&lines[at].clone(), numbers);
            if at + 1 < lines.len() {
                line.extend(lines.remove(at + 1));
            }
            lines[at] = line;
        }
        Damage::Nul => {
            let run = vec![0; 1 + numbers.below(700)];
            lines[at] = [run, lines[at].clone()].concat();
        }
        Damage::Interleave => {
            let from = at;
            let tail: Vec<Vec<u8>> = lines[from..(from + 3).min(lines.len())].to_vec();
            let into = from + numbers.below(lines.len() - from);
            for (offset, line) in tail.into_iter().enumerate() {
                lines.insert((into + 2 * offset).min(lines.len()), line);
            }
        }
        Damage::LoseResult => {
            let found = places(&lines, &results, &[]);
            if !found.is_empty() {
                lines.remove(found[numbers.below(found.len())]);
            }
        }
        Damage::LoseCall => {
            let found = places(&lines, &calls, &results);
            if !found.is_empty() {
                lines.remove(found[numbers.below(found.len())]);
            }
        }
    }
    let mut bytes = lines.join(&b'\n');
    if !end_cut {
        bytes.push(b'\n');
    }
    bytes
}

/// Repairs a damaged file. Returns whether it was broken.
fn judge(name: &str, damaged: &[u8]) -> Result<bool, String> {
    let options = Options::default();
    let repaired = files::repair(name, damaged, &options).map_err(|error| error.to_string())?;
    let repaired = repaired.ok_or("the program is not recognised any more")?;
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
    let checked = files::check(name, &mut &*repaired.bytes, &options).map_err(|error| error.to_string())?.unwrap();
    // A file that is cut before its first message has no conversation.
    if checked.messages > 0 {
        strictly_valid(checked.dialect, &checked.body)?;
    }
    let before = words(damaged);
    let after = words(&repaired.bytes);
    if let Some(lost) = before.difference(&after).next() {
        let is_reported = repaired.dropped.iter().any(|dropped| dropped.source.contains(&lost[..lost.len().min(20)]));
        if !is_reported {
            return Err(format!("lost: {}", lost.chars().take(100).collect::<String>()));
        }
    }
    let again = files::repair(name, &repaired.bytes, &options).map_err(|error| error.to_string())?.unwrap();
    if again.changed() {
        return Err("a second repair changes the file".to_owned());
    }
    Ok(repaired.changed())
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

/// The texts in the complete records of a file, by a reading that shares no code with the one under test.
fn words(file: &[u8]) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let text = String::from_utf8_lossy(file);
    for line in text.lines() {
        let mut rest = line.trim_matches(|found: char| found == '\0' || found.is_whitespace());
        while let Some(start) = rest.find('{') {
            let mut values = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) if start == 0 => {
                    collect(&value, &mut words);
                    rest = rest[values.byte_offset()..].trim_start_matches('\0');
                }
                // Only whole records from the start of a line count: an object inside a fragment is not a record.
                _ => break,
            }
        }
    }
    words
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
