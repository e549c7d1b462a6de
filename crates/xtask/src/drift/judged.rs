//! The list of vendors' names that our code does not read, with the verdict about each.

use std::cell::Cell;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::vendor::{Kind, Name};
use crate::tree::Tree;

/// The path of the list.
pub(crate) const JUDGED: &str = "crates/xtask/drift/judged.toml";

/// The judgements, in the order of the file.
#[derive(Debug)]
pub(crate) struct Judged {
    patterns: Vec<Pattern>,
}

/// A name, or the beginning or the end of names, and whether a vendor has it.
#[derive(Debug)]
struct Pattern {
    dialect: String,
    kind: Kind,
    text: String,
    verdict: Verdict,
    is_used: Cell<bool>,
}

/// The decision about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// It is kept byte for byte, and no rule has to know it.
    Kept,
    /// The code reads it by its shape, or by a pattern that no string shows.
    Read,
    /// It is of another endpoint, or never in a conversation.
    Elsewhere,
    /// A dialect should read it and does not yet.
    Missing,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    judged: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dialect: String,
    kind: Kind,
    names: Vec<String>,
    verdict: Verdict,
    reason: String,
}

impl Judged {
    /// Reads the list.
    pub(crate) fn read(tree: &Tree) -> Result<Self> {
        Self::parse(tree.text(JUDGED).with_context(|| format!("{JUDGED} is missing"))?)
    }

    /// Reads the text of the list.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text).with_context(|| format!("cannot read {JUDGED}"))?;
        let mut patterns: Vec<Pattern> = Vec::new();
        for entry in file.judged {
            let Entry { dialect, kind, names, verdict, reason } = entry;
            if reason.trim().is_empty() {
                bail!("{JUDGED}: a judgement of {dialect} has no reason");
            }
            for text in names {
                let is_same = |old: &Pattern| old.dialect == dialect && old.kind == kind && old.text == text;
                if patterns.iter().any(is_same) {
                    bail!("{JUDGED}: `{text}` of {dialect} is judged twice");
                }
                patterns.push(Pattern { dialect: dialect.clone(), kind, text, verdict, is_used: Cell::new(false) });
            }
        }
        Ok(Self { patterns })
    }

    /// The verdict about a name of a dialect.
    pub(crate) fn verdict(&self, dialect: &str, name: &Name) -> Option<Verdict> {
        let found = self.patterns.iter().find(|pattern| {
            let is_name = match (pattern.text.strip_suffix('*'), pattern.text.strip_prefix('*')) {
                (Some(start), _) => name.name.starts_with(start),
                (None, Some(end)) => name.name.ends_with(end),
                (None, None) => name.name == pattern.text,
            };
            is_name && pattern.dialect == dialect && pattern.kind == name.kind
        })?;
        found.is_used.set(true);
        Some(found.verdict)
    }

    /// The judgements of a dialect that were never needed: the code reads the name now, or the vendor removed it.
    pub(crate) fn unused(&self, dialect: &str) -> Vec<Name> {
        let is_unused = |pattern: &&Pattern| pattern.dialect == dialect && !pattern.is_used.get();
        let name = |pattern: &Pattern| Name { kind: pattern.kind, name: pattern.text.clone() };
        self.patterns.iter().filter(is_unused).map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [[judged]]
        dialect = "one"
        kind = "member"
        names = ["text.parsed", "web_search_call.*", "*.created_by"]
        verdict = "kept"
        reason = "Only the provider reads it."
    "#;

    fn member(name: &str) -> Name {
        Name { kind: Kind::Member, name: name.to_owned() }
    }

    #[test]
    fn a_name_is_judged_for_its_dialect_and_kind() {
        let judged = Judged::parse(FILE).unwrap();
        assert_eq!(judged.verdict("one", &member("text.parsed")), Some(Verdict::Kept));
        assert_eq!(judged.verdict("one", &member("text.parsed.more")), None);
        assert_eq!(judged.verdict("two", &member("text.parsed")), None);
        assert_eq!(judged.verdict("one", &Name { kind: Kind::Block, name: "text.parsed".to_owned() }), None);
        assert_eq!(judged.verdict("one", &member("web_search_call.action")), Some(Verdict::Kept));
    }

    #[test]
    fn a_judgement_that_matches_nothing_is_listed() {
        let judged = Judged::parse(FILE).unwrap();
        judged.verdict("one", &member("text.parsed"));
        judged.verdict("one", &member("shell_call.created_by"));
        assert_eq!(judged.unused("one"), [member("web_search_call.*")]);
        assert_eq!(judged.unused("two"), []);
    }

    #[test]
    fn a_judgement_needs_a_reason_and_comes_once() {
        let twice = format!("{FILE}{FILE}");
        assert!(Judged::parse(&twice).unwrap_err().to_string().contains("judged twice"));
        let mute = FILE.replace("Only the provider reads it.", " ");
        assert!(Judged::parse(&mute).unwrap_err().to_string().contains("has no reason"));
    }

    #[test]
    fn the_list_of_the_tree_is_readable() {
        Judged::parse(include_str!("../../drift/judged.toml")).unwrap();
    }
}
