//! A module is named after what it holds.

use super::{Complaint, Subject};

const REFUSED: [&str; 6] = ["common", "helpers", "manager", "misc", "types", "util"];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let complaints = subject.tree.rust().filter_map(|(path, _)| Some((path, refused(path)?))).map(|(path, name)| {
        let message = format!("`{name}` says nothing; name the module after what it holds");
        Complaint::new(path, message)
    });
    complaints.collect()
}

fn refused(path: &str) -> Option<&str> {
    path.trim_end_matches(".rs")
        .split('/')
        .find(|name| REFUSED.iter().any(|word| name == word || name.strip_suffix('s') == Some(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_with_empty_names_are_refused() {
        let files = [
            ("crates/a/src/common/b.rs", ""),
            ("crates/a/src/pairing.rs", ""),
            ("crates/a/src/utils.rs", ""),
            ("docs/types.md", ""),
        ];
        assert_eq!(
            Subject::said(&files, check),
            [
                "error: crates/a/src/common/b.rs: \
                 `common` says nothing; name the module after what it holds",
                "error: crates/a/src/utils.rs: \
                 `utils` says nothing; name the module after what it holds",
            ]
        );
    }
}
