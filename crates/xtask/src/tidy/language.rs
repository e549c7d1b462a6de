//! Comments, documents and messages are in plain English.

use super::{Complaint, Subject};
use crate::source;

/// Phrases that fail the check, then phrases that `cargo xtask figures` counts as well. Written in pieces, so that
/// this file does not contain them.
pub(crate) const COUNTED: [&str; 7] = [
    concat!("no", "body"),
    concat!("some", "body"),
    concat!("who", "ever"),
    concat!("come ", "back to"),
    concat!("an", "ybody"),
    concat!("sta", "nds"),
    concat!("told ", "of"),
];

/// The part of the list that fails the check.
const BANNED: usize = 4;

/// The fewest words that the comment of a field has.
const FIELD_WORDS_MIN: usize = 3;

/// Texts that are still to be rewritten.
const NOT_YET: &[&str] = &[];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    complaints(subject, NOT_YET)
}

/// The complaints about every text but those whose path starts as one of `skipped` does.
fn complaints(subject: &Subject, skipped: &[&str]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in subject.tree.texts().filter(|(path, _)| !skipped.iter().any(|start| path.starts_with(start))) {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        if is_prose(path) {
            complaints.extend(lines.filter_map(|(number, line)| banned(path, number, line)));
        } else if is_case(path) {
            let sentences = lines.filter(|(_, line)| line.starts_with("why") || line.starts_with("about"));
            complaints.extend(sentences.filter_map(|(number, line)| banned(path, number, line)));
        }
        if source::is_rust(path) {
            complaints.extend(short_field_comments(path, text));
        }
    }
    complaints
}

/// True for texts that people of the project write: sources, documents and manifests.
pub(crate) fn is_prose(path: &str) -> bool {
    let is_recorded = ["fixtures/", "examples/"].iter().any(|folder| path.starts_with(folder));
    !is_recorded && [".rs", ".md", ".toml"].iter().any(|end| path.ends_with(end))
}

/// True for the description of a fixture, whose other lines may quote a provider.
fn is_case(path: &str) -> bool {
    path.starts_with("fixtures/") && path.ends_with("/case.toml")
}

fn banned(path: &str, number: usize, line: &str) -> Option<Complaint> {
    let phrase = COUNTED[..BANNED].iter().find(|phrase| contains_phrase(line, phrase))?;
    let message =
        format!("`{phrase}`: say who acts (the provider, the client, the store, the caller) and what it does");
    Some(Complaint::at(path, number, message))
}

/// True if the line has the phrase in any case, as whole words; underscores part words, so that names of tests count.
pub(crate) fn contains_phrase(line: &str, phrase: &str) -> bool {
    let spaced: String = line.chars().map(|c| if c == '_' { ' ' } else { c.to_ascii_lowercase() }).collect();
    source::contains_name(&spaced, phrase)
}

/// Comments of fields that have too few words.
fn short_field_comments(path: &str, text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut comment: Option<(usize, String)> = None;
    let mut in_attribute = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(said) = line.strip_prefix("///") {
            let (_, words) = comment.get_or_insert_with(|| (index + 1, String::new()));
            words.push_str(said);
        } else if in_attribute || line.starts_with("#[") {
            in_attribute = !line.ends_with(']');
        } else {
            if let Some((number, words)) = comment.take().filter(|_| is_field(line)) {
                let count = words.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
                if count < FIELD_WORDS_MIN {
                    let message = format!("`{}`: the comment of a field has at least three words", words.trim());
                    complaints.push(Complaint::at(path, number, message));
                }
            }
            comment = None;
        }
    }
    complaints
}

/// True for `name: Type,` with any visibility.
fn is_field(line: &str) -> bool {
    let declared = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or(scope, |(_, rest)| rest),
        None => rest,
    });
    let Some((name, of)) = declared.trim_start().split_once(':') else { return false };
    let name = name.strip_prefix("r#").unwrap_or(name);
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_name && of.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints_about(path: &str, text: &str) -> Vec<String> {
        Subject::complaints(&[(path, text)], |subject| complaints(subject, &[]))
    }

    #[test]
    fn every_banned_phrase_is_found_in_comments_strings_and_documents() {
        for phrase in &COUNTED[..BANNED] {
            let expected = |path: &str, line: usize| {
                format!(
                    "error: {path}:{line}: `{phrase}`: say who acts (the provider, the client, the store, the caller) \
                     and what it does"
                )
            };
            let comment = format!("fn a() {{}}\n// {phrase} does it\n");
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &comment), [expected("crates/xtask/src/a.rs", 2)]);
            let string = format!("let a = \"{}'s\";\n", phrase.to_uppercase());
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &string), [expected("crates/xtask/src/a.rs", 1)]);
            let test = format!("fn a_file_{}_reads() {{}}\n", phrase.replace(' ', "_"));
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &test), [expected("crates/xtask/src/a.rs", 1)]);
            assert_eq!(complaints_about("docs/a.md", phrase), [expected("docs/a.md", 1)]);
            assert_eq!(
                complaints_about("clippy.toml", &format!("reason = \"{phrase}\"")),
                [expected("clippy.toml", 1)]
            );
        }
    }

    #[test]
    fn longer_words_recorded_inputs_and_counted_phrases_pass() {
        let longer = format!("// {}ies\n// {}\n", COUNTED[0], COUNTED[BANNED]);
        assert_eq!(complaints_about("crates/xtask/src/a.rs", &longer), Vec::<String>::new());
        assert_eq!(complaints_about("examples/a.md", COUNTED[0]), Vec::<String>::new());
        assert_eq!(complaints_about("docs/images/a.svg", COUNTED[0]), Vec::<String>::new());
    }

    #[test]
    fn of_a_fixture_only_its_description_is_checked() {
        let case = format!("text = '{0}'\nwhy = '{0}'\n", COUNTED[0]);
        let found = complaints_about("fixtures/rules/a/b/c/case.toml", &case);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("error: fixtures/rules/a/b/c/case.toml:2: "), "{found:?}");
        assert_eq!(complaints_about("fixtures/rules/a/b/c/notes.md", COUNTED[0]), Vec::<String>::new());
    }

    #[test]
    fn the_comment_of_a_field_has_three_words() {
        let text = "struct A {\n    /// It could.\n    #[serde(\n        default\n    )]\n    pub(crate) a: bool,\n    \
                    /// Every commit passed\n    /// its check.\n    pub b: bool,\n    /// Its name.\n    r#type: B,\n}\n";
        let expected = |line: usize, said: &str| {
            format!("error: crates/xtask/src/a.rs:{line}: `{said}`: the comment of a field has at least three words")
        };
        assert_eq!(
            complaints_about("crates/xtask/src/a.rs", text),
            [expected(2, "It could."), expected(10, "Its name.")]
        );
    }

    #[test]
    fn comments_of_variants_functions_and_paths_are_not_fields() {
        let text = "enum A {\n    /// It does.\n    B,\n}\n/// Runs.\nfn a(b: u8) {}\n/// Short.\npub mod c;\n";
        assert_eq!(complaints_about("crates/xtask/src/a.rs", text), Vec::<String>::new());
    }
}
