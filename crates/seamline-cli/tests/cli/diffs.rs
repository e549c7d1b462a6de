//! `seamline fix --diff` shows every change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::Bench;

/// The characters of a value that a diff has to show; a long text may be cut.
const SHOWN_CHARS: usize = 12;
/// The fewest repaired fixtures that are compared.
const CASES_MIN: usize = 250;

#[test]
fn every_changed_value_of_every_repaired_fixture_is_shown() {
    let bench = Bench::new();
    let mut compared = 0;
    let mut hidden = Vec::new();
    for case in cases() {
        let Some(settings) = Settings::read(&case) else { continue };
        let read = |name: &str| std::fs::read(case.join(name)).ok();
        let (Some(before), Some(after)) = (read("input.json"), read("repaired.json")) else { continue };
        let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        let (Some(old), Some(new)) = (parse(&before), parse(&after)) else { continue };
        if old == new {
            continue;
        }
        compared += 1;
        bench.write("body.json", &before);
        let args = ["--dialect", &settings.dialect, "--provider", &settings.provider, "--policy", &settings.policy];
        let ran = bench.run(&[&["fix", "--diff", "body.json"], &args[..]].concat());
        let shown = without_space(&(ran.out + &ran.err));
        hidden.extend(
            changed(&old, &new).into_iter().filter(|change| !change.is_in(&shown)).map(|change| (case.clone(), change)),
        );
    }
    assert!(compared >= CASES_MIN, "{compared} fixtures were compared");
    assert!(hidden.is_empty(), "{} values are not shown: {hidden:#?}", hidden.len());
}

/// The options of a case that names a preset and sets no knob.
struct Settings {
    dialect: String,
    provider: String,
    policy: String,
}

impl Settings {
    fn read(case: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(case.join("case.toml")).unwrap();
        let lines: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(" = ")).collect();
        let setting = |name| lines.get(name).map(|value| value.trim_matches('"').to_owned());
        let known = ["dialect", "policy", "provider", "source", "why"];
        let has_knobs = lines.keys().any(|key| !known.contains(key));
        Some(Self { dialect: setting("dialect")?, provider: setting("provider")?, policy: setting("policy")? })
            .filter(|_| !has_knobs)
    }
}

/// A value that only one body has at its place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    member: String,
    value: String,
}

impl Change {
    /// Whether a diff shows the member or the start of its value.
    fn is_in(&self, shown: &str) -> bool {
        let start: String = without_space(&self.value).chars().take(SHOWN_CHARS).collect();
        shown.contains(&without_space(&self.member)) || shown.contains(&start)
    }
}

/// The values that one body has and the other one does not. The columns of a diff show types and roles by other words.
fn changed(before: &Value, after: &Value) -> Vec<Change> {
    let mut counts = BTreeMap::new();
    count_values(&mut counts, ("", ""), before, 1);
    count_values(&mut counts, ("", ""), after, -1);
    let differ = counts.into_iter().filter(|(_, count): &(_, i32)| *count != 0);
    let changes = differ.map(|((_, member, value), _)| Change { member, value });
    changes.filter(|change| !["type", "role"].contains(&change.member.as_str())).collect()
}

/// Counts the values of a body by their path without indices.
fn count_values(
    counts: &mut BTreeMap<(String, String, String), i32>,
    (path, member): (&str, &str),
    value: &Value,
    number: i32,
) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                count_values(counts, (&format!("{path}/{key}"), key), value, number);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                count_values(counts, (&format!("{path}/*"), member), element, number);
            }
        }
        value => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            *counts.entry((path.to_owned(), member.to_owned(), text)).or_default() += number;
        }
    }
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The folders of all cases of rules.
fn cases() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rules")];
    for _ in 0..3 {
        let inside = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        folders = folders.into_iter().flat_map(inside).filter(|path| path.is_dir()).collect();
    }
    folders.sort();
    folders
}
