//! One dialect is one folder or file: no `match` elsewhere has an arm for one dialect.

use std::collections::BTreeSet;

use super::{Complaint, Subject};
use crate::source;
use crate::tree::Tree;

const DIALECTS: &str = "crates/seamline-dialects/src/";
/// The folder of the test kit with one file for each dialect.
const ROWS: &str = "/dialect/";
const ENUM: &str = "Dialect::";

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let names = names(&subject.tree);
    let is_row = |path: &str| path.contains(ROWS) || names.iter().any(|name| is_in_folder(path, name));
    let mut complaints = Vec::new();
    for (path, text) in subject.tree.rust().filter(|(path, _)| !is_row(path)) {
        let variants = source::code_with_tests(text).into_iter().filter(|(_, line)| has_variant_arm(line));
        let is_for_tests = source::is_test_file(path);
        let code = source::code(text).into_iter().filter(|_| !is_for_tests);
        let named = code.filter(|(_, line)| names.iter().any(|name| has_name_arm(line, name)));
        let message = "an arm for one dialect; read a field of its row, so that a new dialect changes no other file";
        complaints.extend(variants.chain(named).map(|(number, _)| Complaint::at(path, number, message)));
    }
    complaints
}

/// The names of the dialects.
fn names(tree: &Tree) -> BTreeSet<&str> {
    let folders = tree.paths().filter_map(|path| path.strip_prefix(DIALECTS)?.strip_suffix("/constraints.rs"));
    folders.filter(|folder| !folder.contains('/')).collect()
}

fn is_in_folder(path: &str, name: &str) -> bool {
    path.strip_prefix(DIALECTS).and_then(|path| path.strip_prefix(name)).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether the line has a pattern such as `Dialect::OpenAiChat =>` or `Some(Dialect::OpenAiChat | …)`.
fn has_variant_arm(line: &str) -> bool {
    line.match_indices(ENUM).any(|(at, _)| {
        let rest = &line[at + ENUM.len()..];
        let variant: &str = source::words(rest).next().filter(|word| rest.starts_with(word)).unwrap_or_default();
        let is_variant = variant.starts_with(char::is_uppercase) && variant.contains(char::is_lowercase);
        is_variant && is_pattern(&rest[variant.len()..])
    })
}

/// Whether the line has a pattern such as `"openai_chat" =>`.
fn has_name_arm(line: &str, name: &str) -> bool {
    let quoted = format!("\"{name}\"");
    line.match_indices(&quoted).any(|(at, _)| is_pattern(&line[at + quoted.len()..]))
}

/// Whether the text continues a pattern.
fn is_pattern(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', ')']);
    rest.starts_with("=>") || (rest.starts_with("| ") && !rest.starts_with("||"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<usize> {
        let subject = [("crates/seamline-dialects/src/openai_chat/constraints.rs", ""), (path, text)];
        let complaints = Subject::complaints(&subject, check);
        complaints.iter().map(|complaint| complaint.split(':').nth(2).unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn an_arm_for_one_dialect_is_refused_in_tests_too() {
        let text = format!("match dialect {{\n    {ENUM}A1 => 1,\n    Some({ENUM}OpenAiChat | {ENUM}Bc) => 2,\n}}\n")
            .replace("A1", "AnthropicMessages");
        for path in ["crates/a/src/b.rs", "crates/a/tests/suite/b.rs"] {
            assert_eq!(complaints(path, &text), [2, 3], "{path}");
        }
        for path in ["crates/a/src/dialect/b.rs", "crates/seamline-dialects/src/openai_chat/wire.rs"] {
            assert!(complaints(path, &text).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_name_as_a_pattern_is_refused_outside_of_tests() {
        let text = format!("match name {{\n    {quote}openai_chat{quote} => 1,\n}}\n", quote = '"');
        assert_eq!(complaints("crates/a/src/b.rs", &text), [2]);
        assert!(complaints("crates/a/tests/suite/b.rs", &text).is_empty());
    }

    #[test]
    fn a_dialect_that_is_only_named_is_fine() {
        let text = format!("let all = {ENUM}ALL;\ncheck({ENUM}OpenAiChat, body);\n{ENUM}by_name(name) || other\n");
        assert!(complaints("crates/a/src/b.rs", &text).is_empty());
    }
}
