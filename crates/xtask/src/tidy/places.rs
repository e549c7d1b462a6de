//! The repository has no absolute path of one machine.

use super::{Complaint, Subject};

/// Folders at the root of a machine that hold the files of its users.
const FOLDERS: [&str; 3] = ["home", "root", "work"];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in subject.tree.texts() {
        for (index, line) in text.lines().enumerate() {
            if let Some(folder) = FOLDERS.iter().find(|folder| names(line, folder)) {
                let message = format!("a path under `/{folder}` exists on one machine only");
                complaints.push(Complaint::at(path, index + 1, message));
            }
        }
    }
    complaints
}

/// True if the line has an absolute path into `folder`: not `a/folder/` nor `example.com/folder/`.
fn names(line: &str, folder: &str) -> bool {
    let needle = format!("/{folder}/");
    line.match_indices(&needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~}*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_path_is_refused() {
        for folder in FOLDERS {
            assert!(names(&format!("cd /{folder}/x"), folder));
            assert!(names(&format!("\"/{folder}/x\""), folder));
            assert!(names(&format!("file:///{folder}/x"), folder));
            assert!(!names(&format!("src/{folder}/x"), folder));
            assert!(!names(&format!("https://example.com/{folder}/x"), folder));
        }
    }

    #[test]
    fn every_text_file_is_checked() {
        let text = format!("a\n/{}/me\n", FOLDERS[0]);
        assert_eq!(
            Subject::complaints(&[("docs/a.md", &text)], check),
            ["error: docs/a.md:2: a path under `/home` exists on one machine only"]
        );
    }
}
