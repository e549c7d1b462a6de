//! A module is named after its content.

use super::{Complaint, Subject};

const REFUSED: [&str; 6] = ["common", "helpers", "manager", "misc", "types", "util"];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let complaints = subject.tree.rust().filter_map(|(path, _)| Some((path, refused(path)?))).map(|(path, name)| {
        let message = format!("`{name}` is not a topic; name the module after its content");
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
    fn files_and_folders_without_a_topic_are_refused() {
        let files = [
            ("crates/a/src/common/b.rs", ""),
            ("crates/a/src/pairing.rs", ""),
            ("crates/a/src/utils.rs", ""),
            ("docs/types.md", ""),
        ];
        assert_eq!(
            Subject::complaints(&files, check),
            [
                "error: crates/a/src/common/b.rs: \
                 `common` is not a topic; name the module after its content",
                "error: crates/a/src/utils.rs: \
                 `utils` is not a topic; name the module after its content",
            ]
        );
    }
}
