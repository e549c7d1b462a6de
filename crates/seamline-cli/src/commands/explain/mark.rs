//! `seamline explain` with the mark of a source, such as `ANT-5`

use std::collections::BTreeSet;
use std::fmt::Write as _;

use seamline::classify::KnownError;
use serde::Serialize;

use crate::render::json;

/// A mark, with the known errors and the rules that cite it.
#[derive(Serialize)]
pub(super) struct Mark {
    name: String,
    errors: Vec<KnownAs>,
    rules: Vec<RestingRule>,
}

/// One meaning of the errors that cite a mark.
#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct KnownAs {
    family: &'static str,
    name: &'static str,
    class: &'static str,
    meaning: &'static str,
    advice: &'static str,
}

/// A rule that cites the mark in its references.
#[derive(Serialize)]
struct RestingRule {
    code: &'static str,
    name: &'static str,
}

impl Mark {
    /// Finds the mark of this name, if an error or a rule cites it.
    pub(super) fn find(asked: &str) -> Option<Self> {
        let known = seamline::classify::known_errors().filter(|(_, known)| known.source.eq_ignore_ascii_case(asked));
        let known: Vec<_> = known.collect();
        let source = known.first().map(|(_, known)| known.source);
        let errors: BTreeSet<_> = known.into_iter().map(|(family, known)| KnownAs::of(family, known)).collect();
        let name = source.map_or_else(|| asked.to_ascii_uppercase(), str::to_owned);
        let named = seamline::rules::RULES.iter().filter(|rule| rests_on(&seamline::rules::documentation(rule), &name));
        let rules: Vec<_> = named.map(|rule| RestingRule { code: rule.code, name: rule.name }).collect();
        let is_known = !errors.is_empty() || !rules.is_empty();
        is_known.then(|| Self { name, errors: errors.into_iter().collect(), rules })
    }

    pub(super) fn for_programs(&self) -> String {
        json::listing("mark", self)
    }

    pub(super) fn as_markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.name);
        out += if self.rules.is_empty() {
            "This is not a rule. It is the mark of a known error text.\n\n"
        } else {
            "This is not a rule. It is the mark of a known demand or error of a provider.\n\n"
        };
        for KnownAs { family, name, class, meaning, advice } in &self.errors {
            let of = if *family == "any" { "of many programs".to_owned() } else { format!("of `{family}`") };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "- an error {of}, `{name}`: {meaning}. It is {class}: {advice}.");
        }
        if let Some(first) = self.rules.first() {
            let rules: Vec<_> = self.rules.iter().map(|rule| format!("{} `{}`", rule.code, rule.name)).collect();
            let _ = writeln!(out, "- cited by {}; see `seamline explain {}`", rules.join(", "), first.code);
        }
        out + if self.rules.is_empty() {
            "\n`seamline explain --error TEXT` finds the mark of an error text and says what to do about it.\n"
        } else {
            "\n`seamline providers NAME` lists the demands of a provider and its other errors; \
             `docs/design/references.md` explains the marks.\n"
        }
    }
}

impl KnownAs {
    fn of(family: &'static str, known: &KnownError) -> Self {
        let kind = known.kind;
        Self { family, name: kind.name, class: kind.class.as_str(), meaning: kind.meaning, advice: kind.advice }
    }
}

/// Whether a rule names a mark in its references.
fn rests_on(documentation: &str, mark: &str) -> bool {
    let references = documentation.split_once("# References").map_or("", |(_, references)| references);
    references.split(|char: char| !char.is_ascii_alphanumeric() && char != '-').any(|word| word == mark)
}
