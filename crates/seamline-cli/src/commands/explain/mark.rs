//! `seamline explain` with the mark under which something is known of a provider, such as `ANT-5`

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;

use crate::render::json;

/// What rests on a mark.
#[derive(Serialize)]
pub(super) struct Mark {
    name: String,
    errors: Vec<KnownAs>,
    rules: Vec<RestingRule>,
}

/// One thing that errors known under a mark mean.
#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct KnownAs {
    family: &'static str,
    name: &'static str,
    meaning: &'static str,
}

/// A rule that names the mark among what it rests on.
#[derive(Serialize)]
struct RestingRule {
    code: &'static str,
    name: &'static str,
}

impl Mark {
    /// The mark of this name, if an error or a rule rests on it.
    pub(super) fn find(asked: &str) -> Option<Self> {
        let known = seamline::known_errors().filter(|(_, known)| known.source.eq_ignore_ascii_case(asked));
        let errors: BTreeSet<_> = known
            .map(|(family, known)| KnownAs { family, name: known.kind.name, meaning: known.kind.meaning })
            .collect();
        let name = asked.to_ascii_uppercase();
        let named = seamline::RULES.iter().filter(|rule| rests_on(&seamline::documentation(rule), &name));
        let rules: Vec<_> = named.map(|rule| RestingRule { code: rule.code, name: rule.name }).collect();
        let is_known = !errors.is_empty() || !rules.is_empty();
        is_known.then(|| Self { name, errors: errors.into_iter().collect(), rules })
    }

    pub(super) fn for_programs(&self) -> String {
        json::listing("mark", self)
    }

    pub(super) fn as_markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.name);
        out += "No rule, but the mark of something that a provider is known to demand or to answer.\n\n";
        for KnownAs { family, name, meaning } in &self.errors {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "- an error of `{family}`, `{name}`: {meaning}");
        }
        if let Some(first) = self.rules.first() {
            let rules: Vec<_> = self.rules.iter().map(|rule| format!("{} `{}`", rule.code, rule.name)).collect();
            let _ = writeln!(out, "- what {} rest on; more with `seamline explain {}`", rules.join(", "), first.code);
        }
        out + "\n`seamline providers NAME` lists what a provider demands and answers otherwise; \
               `docs/design/references.md` says what the marks stand for.\n"
    }
}

/// Whether a rule names a mark under its last heading.
fn rests_on(documentation: &str, mark: &str) -> bool {
    let references = documentation.split_once("# References").map_or("", |(_, references)| references);
    references.split(|char: char| !char.is_ascii_alphanumeric() && char != '-').any(|word| word == mark)
}
