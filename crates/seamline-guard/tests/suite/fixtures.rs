//! Error texts of providers and of programs in front of them.
//!
//! `fixtures/errors/<family>.json` has the texts of each family of providers, `wrapped.json` has texts that gateways and
//! SDKs forward, and `unknown.json` has texts that only resemble known errors.

use std::path::{Path, PathBuf};

use seamline_guard::{Certainty, Failure, Verdict, all, classify};
use serde_json::Value;

/// An error text and its expected verdict.
pub(crate) struct Case {
    /// The source of the text.
    source: String,
    /// The source of the known error that it must match.
    recognised: String,
    pub(crate) provider: Option<String>,
    pub(crate) status: Option<u16>,
    pub(crate) text: String,
    pub(crate) class: String,
    rules: Vec<String>,
}

impl Case {
    pub(crate) fn classify(&self) -> Verdict {
        classify(&Failure {
            provider: self.provider.as_deref(),
            status: self.status,
            text: &self.text,
            ..Failure::default()
        })
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let rules = value["rules"].as_array()?.iter().map(|rule| rule.as_str().map(str::to_owned));
        let source = text("source")?;
        Some(Self {
            recognised: text("recognised").unwrap_or_else(|| source.clone()),
            source,
            provider: text("provider"),
            status: value["status"].as_u64().and_then(|status| u16::try_from(status).ok()),
            text: text("text")?,
            class: text("class")?,
            rules: rules.collect::<Option<_>>()?,
        })
    }

    fn judge(&self) -> Result<(), String> {
        let verdict = self.classify();
        let recognised = verdict.known.map(|known| known.source);
        let is_right = verdict.class.as_str() == self.class
            && recognised == Some(self.recognised.as_str())
            && self.rules.iter().map(String::as_str).eq(verdict.rules.iter().copied());
        if is_right { Ok(()) } else { Err(format!("{}: {}\n  {verdict:?}", self.source, self.text)) }
    }
}

/// Reads the texts of all families of providers.
pub(crate) fn cases() -> Vec<Case> {
    let families =
        files().into_iter().filter(|path| !path.ends_with("wrapped.json") && !path.ends_with("unknown.json"));
    families.flat_map(|path| read(&path)).collect()
}

fn read(path: &Path) -> Vec<Case> {
    let values: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases: Option<Vec<_>> = values.iter().map(Case::read).collect();
    cases.unwrap_or_else(|| panic!("{} has a case without a field", path.display()))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/errors")
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[track_caller]
fn all_hold(cases: &[Case]) {
    let failures: Vec<_> = cases.iter().filter_map(|case| case.judge().err()).collect();
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), cases.len(), failures.join("\n"));
    assert!(!cases.is_empty(), "there are no cases");
}

#[test]
fn texts_of_providers_are_recognised() {
    all_hold(&cases());
}

#[test]
fn forwarded_texts_are_recognised() {
    all_hold(&read(&folder().join("wrapped.json")));
}

#[test]
fn texts_that_only_resemble_errors_are_not_recognised() {
    let texts: Vec<String> =
        serde_json::from_str(&std::fs::read_to_string(folder().join("unknown.json")).unwrap()).unwrap();
    for text in &texts {
        for status in [None, Some(400)] {
            let verdict = classify(&Failure { status, text, ..Failure::default() });
            assert_eq!(verdict.known, None, "{text}");
            assert_eq!((verdict.class.as_str(), verdict.certainty), ("fatal", Certainty::Guess), "{text}");
        }
    }
}

#[test]
fn every_known_error_is_shown_by_a_case() {
    let shown: Vec<_> =
        files().iter().filter(|path| !path.ends_with("unknown.json")).flat_map(|path| read(path)).collect();
    let missing = all().filter(|(_, known)| !shown.iter().any(|case| case.source == known.source));
    // Predicted texts have the mark of their rule of the provider.
    let missing: Vec<_> = missing.map(|(_, known)| known.source).filter(|source| !UNSEEN.contains(source)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The marks whose error texts are predictions or lists of codes.
const UNSEEN: [&str; 5] = ["ANT-1", "OAC-1", "ORT-3", "COH-2", "S0-42"];

#[test]
fn names_are_words_and_every_kind_has_advice() {
    for (family, known) in all() {
        let kind = known.kind;
        assert!(kind.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{family} {}", kind.name);
        for sentence in [kind.meaning, kind.advice] {
            let is_clause = sentence.starts_with(char::is_lowercase) && !sentence.ends_with('.');
            assert!(is_clause, "{}: {sentence}", kind.name);
        }
    }
}
