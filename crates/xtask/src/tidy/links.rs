//! A link in a document leads to an existing file.

use std::path::Path;

use super::{Complaint, Subject};

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in subject.tree.texts().filter(|(path, _)| is_document(path)) {
        for (line, target) in targets(text) {
            let file = target.split(['#', '?']).next().unwrap_or_default();
            if file.is_empty() || is_url(file) {
                continue;
            }
            if !resolve(path, file).is_some_and(|file| subject.tree.contains(&file)) {
                complaints.push(Complaint::at(path, line, format!("`{target}` does not exist")));
            }
        }
    }
    complaints
}

/// The documents at the root and everything under `docs/`.
fn is_document(path: &str) -> bool {
    let is_markdown = Path::new(path).extension().is_some_and(|e| e == "md");
    is_markdown && (path.starts_with("docs/") || !path.contains('/'))
}

fn is_url(target: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}

/// The targets of `[…](target)` and `[…]: target`, with their lines; code blocks are left out.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            found.extend(inline_targets(line).map(|target| (index + 1, target)));
            found.extend(reference_target(line).map(|target| (index + 1, target)));
        }
    }
    found
}

fn inline_targets(line: &str) -> impl Iterator<Item = &str> {
    // Every second piece between backticks is code.
    let prose = line.split('`').step_by(2);
    // A link whose text is code has its `](` at the start of the next piece of prose.
    prose.flat_map(|piece| {
        piece
            .split("](")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once(')')?.0))
            .filter_map(|target| target.split_whitespace().next())
            .map(|target| target.trim_matches(['<', '>']))
    })
}

fn reference_target(line: &str) -> Option<&str> {
    let (_, target) = line.strip_prefix('[')?.split_once("]: ")?;
    target.split_whitespace().next()
}

/// The path from the root of `target` as seen from `document`; `None` if it leaves the root.
fn resolve(document: &str, target: &str) -> Option<String> {
    let mut names: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => document.split('/').collect(),
    };
    names.pop();
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        let files = [("README.md", ""), ("docs/design/why.md", text), ("docs/rules/PAIR001.md", "")];
        Subject::complaints(&files, check)
    }

    #[test]
    fn files_folders_anchors_and_urls_pass() {
        let text = "[a](../rules/PAIR001.md#example) [b](../../README.md \"title\") [`c`](../rules)\n\
            [d](#here) [e](https://example.com/x.md) `[f](nowhere.md)`\n\n\
            ```\n[g](nowhere.md)\n```\n\n[h]: ../rules/PAIR001.md\n";
        assert_eq!(complaints(text), Vec::<String>::new());
    }

    #[test]
    fn a_link_to_a_missing_file_is_refused() {
        assert_eq!(
            complaints("a\n[a](gone.md) and [`b`](../gone.md)\n[c]: ../../../out.md\n"),
            [
                "error: docs/design/why.md:2: `gone.md` does not exist",
                "error: docs/design/why.md:2: `../gone.md` does not exist",
                "error: docs/design/why.md:3: `../../../out.md` does not exist",
            ]
        );
    }
}
