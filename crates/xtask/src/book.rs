//! The rule book: what is known of providers by mark, and where it is used.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::sources;

/// Where the book stands.
pub(crate) const BOOK: &str = "docs/providers/data/rules.toml";
/// Where dialects and providers stand.
pub(crate) const DIALECTS: &str = "crates/seamline-dialects/src";
/// Where rules stand.
const RULES: &str = "crates/seamline-rules/src/rules/";

/// Everything that is known of what providers demand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Book {
    /// Why marks about answers are not checked.
    pub(crate) answers: String,
    /// The families, by the prefix of their marks.
    pub(crate) families: BTreeMap<String, Family>,
}

/// Marks with one prefix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// Whom they are about.
    pub(crate) name: String,
    /// How many there are, numbered from 1.
    pub(crate) count: u32,
    /// The dialect they are about.
    pub(crate) dialect: String,
    /// The providers they are about.
    pub(crate) providers: Vec<String>,
    /// Those about answers.
    answers: Vec<u32>,
    /// Others that are not checked, with the reason.
    #[serde(default)]
    unchecked: BTreeMap<String, String>,
    /// What of those that are checked is not, with the reason.
    #[serde(default)]
    partly: BTreeMap<String, String>,
}

impl Book {
    /// Reads the book.
    pub(crate) fn read(text: &str) -> Result<Self> {
        toml::from_str(text).with_context(|| format!("{BOOK} is not a rule book"))
    }

    /// Why a mark is not checked; nothing for one that is.
    pub(crate) fn reason(&self, prefix: &str, number: u32) -> Option<&str> {
        let family = self.families.get(prefix)?;
        let own = family.unchecked.get(&number.to_string()).map(String::as_str);
        own.or_else(|| family.answers.contains(&number).then_some(self.answers.as_str()))
    }

    /// The marks of a family that have a reason not to be checked.
    pub(crate) fn unchecked<'b>(&'b self, prefix: &'b str) -> impl Iterator<Item = (String, &'b str)> {
        let count = self.families.get(prefix).map_or(0, |family| family.count);
        (1..=count).filter_map(move |number| Some((format!("{prefix}-{number}"), self.reason(prefix, number)?)))
    }

    /// The marks of a family that are checked in part, with what is not, in the order of their numbers.
    pub(crate) fn partly<'b>(&'b self, prefix: &'b str) -> impl Iterator<Item = (String, &'b str)> {
        let family = self.families.get(prefix);
        let of =
            move |number: u32| Some((format!("{prefix}-{number}"), family?.partly.get(&number.to_string())?.as_str()));
        (1..=family.map_or(0, |family| family.count)).filter_map(of)
    }
}

impl Family {
    /// Numbers under which a reason stands.
    pub(crate) fn listed(&self) -> impl Iterator<Item = String> {
        let more = self.unchecked.keys().chain(self.partly.keys()).cloned();
        self.answers.iter().map(u32::to_string).chain(more)
    }
}

/// The marks that are checked: those beside a field of constraints, and those among the references
/// of a rule. Any other mention says nothing about what is checked.
pub(crate) fn named<'t>(files: impl Iterator<Item = (&'t str, &'t str)>) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (path, text) in files {
        let is_provider = path.strip_prefix(DIALECTS).is_some_and(|path| path.starts_with("/providers/"));
        if is_provider || (path.starts_with(DIALECTS) && path.ends_with("/constraints.rs")) {
            let comments = sources::sets(text).into_values().flat_map(|set| set.fields.into_values());
            named.extend(comments.flat_map(|comment| marks(&comment)));
        } else if path.starts_with(RULES) {
            named.extend(marks(&references(text)));
        }
    }
    named
}

/// What a rule says under its last heading.
fn references(text: &str) -> String {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != "/// # References");
    let said = lines.skip(1).map_while(|line| line.strip_prefix("/// "));
    said.collect::<Vec<_>>().join(" ")
}

/// The marks in a text, such as `ANT-5`, and those between two such as `ANT-34 to ANT-37`.
pub(crate) fn marks(text: &str) -> Vec<String> {
    let mut found: Vec<(String, u32)> = Vec::new();
    let mut range = false;
    for word in text.split_whitespace() {
        let word = word.trim_matches(|char: char| !char.is_ascii_alphanumeric());
        let mark = word.split_once('-').and_then(|(prefix, number)| Some((prefix, number.parse::<u32>().ok()?)));
        match mark {
            Some((prefix, number)) if prefix.bytes().all(|byte| byte.is_ascii_uppercase()) && !prefix.is_empty() => {
                let from = match found.last() {
                    Some((last, start)) if range && last == prefix => start + 1,
                    _ => number,
                };
                found.extend((from..=number).map(|number| (prefix.to_owned(), number)));
                range = false;
            }
            _ => range = word == "to",
        }
    }
    found.into_iter().map(|(prefix, number)| format!("{prefix}-{number}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_ranges_of_marks_are_found() {
        let text = "// ANT-5, observed (claude-code#2697); OAC-2 to OAC-4. Not utf-8, gpt-4 or `A-b`.";
        assert_eq!(marks(text), ["ANT-5", "OAC-2", "OAC-3", "OAC-4"]);
    }

    #[test]
    fn only_what_is_checked_counts_as_named() {
        let files = [
            (
                "crates/seamline-dialects/src/a/constraints.rs",
                "//! ANT-1\npub const C: Constraints = Constraints {\n    // ANT-2.\n    carrier: X,\n};\n",
            ),
            ("crates/seamline-dialects/src/a/decode.rs", "    // ANT-3.\n    carrier: X,\n"),
            (
                "crates/seamline-rules/src/rules/r.rs",
                "    /// ANT-4\n    /// # References\n    /// ANT-5, seen\n    RULE\n// ANT-6\n",
            ),
        ];
        assert_eq!(named(files.into_iter()).into_iter().collect::<Vec<_>>(), ["ANT-2", "ANT-5"]);
    }

    #[test]
    fn a_mark_has_its_own_reason_or_the_shared_one() {
        let text = "answers = 'later'\n[families.ANT]\nname = 'A'\ncount = 3\ndialect = 'a'\nproviders = []\n\
            answers = [3]\n[families.ANT.unchecked]\n2 = 'unseen'\n";
        let book = Book::read(text).unwrap();
        let unchecked: Vec<_> = book.unchecked("ANT").collect();
        assert_eq!(unchecked, [("ANT-2".to_owned(), "unseen"), ("ANT-3".to_owned(), "later")]);
        assert_eq!(book.reason("ANT", 1), None);
    }
}
