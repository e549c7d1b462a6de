//! A public type has a name of its own: one meaning per name.

use std::collections::BTreeMap;

use super::{Complaint, Subject};
use crate::source;

/// Names that several crates give a type, each with the reason.
const SHARED: [(&str, &str); 1] = [("Error", "every library crate has one, and callers write its crate before it")];

/// Crates whose types are not compared, each with the reason.
const APART: [(&str, &str); 1] =
    [("crates/seamline-testkit/", "it judges the other crates and shares no code with them")];

/// The words that define a type.
const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut first: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    let mut complaints = Vec::new();
    for (path, text) in subject.tree.rust().filter(|(path, _)| is_compared(path)) {
        for (number, line) in source::without_tests(text) {
            let Some(name) = public_type(line).filter(|name| SHARED.iter().all(|(shared, _)| shared != name)) else {
                continue;
            };
            if let Some((other, at)) = first.get(name) {
                let message = format!("`{name}` is also the name of a public type in {other}:{at}; rename one of them");
                complaints.push(Complaint::at(path, number, message));
            } else {
                first.insert(name, (path, number));
            }
        }
    }
    complaints
}

fn is_compared(path: &str) -> bool {
    let is_apart = APART.iter().any(|(folder, _)| path.starts_with(folder));
    path.starts_with("crates/") && path.contains("/src/") && !source::is_test_file(path) && !is_apart
}

/// The name of the public type that a line defines.
fn public_type(line: &str) -> Option<&str> {
    let (keyword, rest) = line.trim_start().strip_prefix("pub ")?.split_once(' ')?;
    // A macro declares types under the names of its callers.
    if rest.starts_with('$') {
        return None;
    }
    let name = source::words(rest).next()?;
    KEYWORDS.contains(&keyword).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_public_types_of_one_name_are_found_across_crates() {
        let files = [
            ("crates/a/src/b.rs", "pub struct Place<'a> {}\npub enum Once {}\n"),
            ("crates/c/src/d.rs", "struct Once;\npub type Place = u8;\npub trait Others {}\n"),
        ];
        assert_eq!(
            Subject::complaints(&files, check),
            [
                "error: crates/c/src/d.rs:2: `Place` is also the name of a public type in crates/a/src/b.rs:1; rename one \
              of them"
            ]
        );
    }

    #[test]
    fn tests_other_visibilities_and_exempt_names_pass() {
        let tested = "pub struct A;\npub enum Error {}\n#[cfg(test)]\nmod tests {\n    pub struct B;\n}\n";
        let files = [
            ("crates/a/src/a.rs", tested),
            ("crates/a/src/b.rs", "pub(crate) struct A;\npub struct B;\npub struct Error;\npub fn type_of() {}\n"),
            ("crates/a/tests/b.rs", "pub struct A;\n"),
            ("crates/seamline-testkit/src/b.rs", "pub struct A;\n"),
        ];
        assert_eq!(Subject::complaints(&files, check), Vec::<String>::new());
    }
}
