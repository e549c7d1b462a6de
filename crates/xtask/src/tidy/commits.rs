//! The subject of a commit fits on one line of every tool.

use super::history::History;
use super::{Complaint, Subject};

/// The most characters of a subject.
const SUBJECT_CHARS_MAX: usize = 72;

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let commits = match &subject.history {
        History::Known(commits) => commits,
        History::Unknown(why) => {
            let note = format!("the subjects of commits are not checked: {why}");
            return vec![Complaint::new(".git", note).into_warning()];
        }
    };
    let too_long = commits.iter().filter_map(|commit| {
        let count = commit.subject.chars().count();
        let message = format!("the subject has {count} characters; at most {SUBJECT_CHARS_MAX} are allowed");
        (count > SUBJECT_CHARS_MAX).then(|| Complaint::new(&format!("commit {}", commit.hash), message))
    });
    too_long.collect()
}

#[cfg(test)]
mod tests {
    use super::super::history::Commit;
    use super::*;
    use crate::tree::Tree;

    fn complaints_about(history: History) -> Vec<String> {
        let subject = Subject::read(Tree::default(), history).unwrap();
        check(&subject).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_subject_has_at_most_72_characters() {
        let commit = |hash: &str, count: usize| Commit { hash: hash.to_owned(), subject: "é".repeat(count) };
        let history = History::Known(vec![commit("a1", 72), commit("b2", 73)]);
        assert_eq!(
            complaints_about(history),
            ["error: commit b2: the subject has 73 characters; at most 72 are allowed"]
        );
    }

    #[test]
    fn a_history_that_cannot_be_read_is_a_warning() {
        assert_eq!(
            complaints_about(History::Unknown("this is a shallow clone")),
            ["warning: .git: the subjects of commits are not checked: this is a shallow clone"]
        );
    }
}
