//! The rule book: the known demands of providers by mark, and the code that checks them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::sources;

/// The path of the book.
pub(crate) const BOOK: &str = "docs/providers/data/rules.toml";
/// The folder of dialects and providers.
pub(crate) const DIALECTS: &str = "crates/seamline-dialects/src";
/// The folder of the rules.
const RULES: &str = "crates/seamline-rules/src/rules/";

/// The known demands of all providers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Book {
    /// The reason why marks about responses are not checked.
    pub(crate) responses: String,
    /// The families by the prefix of their marks.
    pub(crate) families: BTreeMap<String, Family>,
}

/// The marks with one prefix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// The name of the provider or API.
    pub(crate) name: String,
    /// The number of marks; the first is 1.
    pub(crate) count: u32,
    /// The dialect of these marks.
    pub(crate) dialect: String,
    /// The providers of these marks.
    pub(crate) providers: Vec<String>,
    /// The marks about responses.
    responses: Vec<u32>,
    /// Other marks that are not checked, with the reason.
    #[serde(default)]
    unchecked: BTreeMap<String, String>,
    /// Marks that are checked in part, with the part that is not.
    #[serde(default)]
    partly: BTreeMap<String, String>,
}

impl Book {
    /// Parses the text of the book.
    pub(crate) fn read(text: &str) -> Result<Self> {
        toml::from_str(text).with_context(|| format!("{BOOK} is not a rule book"))
    }

    /// The reason why a mark is not checked; `None` for a checked mark.
    pub(crate) fn reason(&self, prefix: &str, number: u32) -> Option<&str> {
        let family = self.families.get(prefix)?;
        let own = family.unchecked.get(&number.to_string()).map(String::as_str);
        own.or_else(|| family.responses.contains(&number).then_some(self.responses.as_str()))
    }

    /// The marks of a family that are not checked, with the reason.
    pub(crate) fn unchecked<'b>(&'b self, prefix: &'b str) -> impl Iterator<Item = (String, &'b str)> {
        let count = self.families.get(prefix).map_or(0, |family| family.count);
        (1..=count).filter_map(move |number| Some((format!("{prefix}-{number}"), self.reason(prefix, number)?)))
    }

    /// The marks of a family that are checked in part, with the part that is not, in numerical order.
    pub(crate) fn partly<'b>(&'b self, prefix: &'b str) -> impl Iterator<Item = (String, &'b str)> {
        let family = self.families.get(prefix);
        let of =
            move |number: u32| Some((format!("{prefix}-{number}"), family?.partly.get(&number.to_string())?.as_str()));
        (1..=family.map_or(0, |family| family.count)).filter_map(of)
    }
}

impl Family {
    /// The numbers that have a reason.
    pub(crate) fn listed(&self) -> impl Iterator<Item = String> {
        let more = self.unchecked.keys().chain(self.partly.keys()).cloned();
        self.responses.iter().map(u32::to_string).chain(more)
    }
}

/// The checked marks: those in the comment of a constraint field and those in the references of a rule. Other
/// mentions do not count.
pub(crate) fn named_marks<'t>(files: impl Iterator<Item = (&'t str, &'t str)>) -> BTreeSet<String> {
    let mut marked = BTreeSet::new();
    for (path, text) in files {
        let is_provider = path.strip_prefix(DIALECTS).is_some_and(|path| path.starts_with("/providers/"));
        if is_provider || (path.starts_with(DIALECTS) && path.ends_with("/constraints.rs")) {
            let comments = sources::sets(text).into_values().flat_map(|set| set.fields.into_values());
            marked.extend(comments.flat_map(|comment| marks(&comment)));
        } else if path.starts_with(RULES) {
            marked.extend(marks(&references(text)));
        }
    }
    marked
}

/// The text under the heading `References` of a rule.
fn references(text: &str) -> String {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != "/// # References");
    let said = lines.skip(1).map_while(|line| line.strip_prefix("/// "));
    said.collect::<Vec<_>>().join(" ")
}

/// The marks in a text, such as `ANT-5`, and all marks of a range such as `ANT-34 to ANT-37`.
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
    fn only_constraints_and_references_name_a_mark() {
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
        assert_eq!(named_marks(files.into_iter()).into_iter().collect::<Vec<_>>(), ["ANT-2", "ANT-5"]);
    }

    #[test]
    fn a_mark_has_its_own_reason_or_the_shared_one() {
        let text = "responses = 'later'\n[families.ANT]\nname = 'A'\ncount = 3\ndialect = 'a'\nproviders = []\n\
            responses = [3]\n[families.ANT.unchecked]\n2 = 'unseen'\n";
        let book = Book::read(text).unwrap();
        let unchecked: Vec<_> = book.unchecked("ANT").collect();
        assert_eq!(unchecked, [("ANT-2".to_owned(), "unseen"), ("ANT-3".to_owned(), "later")]);
        assert_eq!(book.reason("ANT", 1), None);
    }
}
