//! Sources have no unfinished code, ignored tests or silenced lints.

use std::path::Path;

use super::{Complaint, Subject};
use crate::source;

/// The extensions of the checked files.
const SOURCES: [&str; 4] = ["js", "py", "rs", "ts"];

/// Words that sources may not contain, comments included. Written in two halves, so that this file does not contain
/// them.
const WORDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

/// Texts that sources may not contain, with the advice for each.
const PIECES: [(&str, &str); 6] = [
    (concat!("unimplemented", "!"), "write it or leave it out"),
    (concat!("todo", "!("), "write it or leave it out"),
    (concat!("#[ig", "nore"), "a test runs or is deleted"),
    (concat!("#[should", "_panic"), "assert on the returned value or error"),
    (concat!("#[al", "low("), "use `#[expect(…, reason = …)]`"),
    (concat!("#![al", "low("), "use `#![expect(…, reason = …)]`"),
];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in subject.tree.texts().filter(|(path, _)| is_source(path)) {
        for (index, line) in text.lines().enumerate() {
            complaints.extend(message(line).map(|message| Complaint::at(path, index + 1, message)));
        }
    }
    complaints
}

fn is_source(path: &str) -> bool {
    let extension = Path::new(path).extension();
    extension.is_some_and(|e| SOURCES.iter().any(|source| e == *source))
}

fn message(line: &str) -> Option<String> {
    let piece = PIECES.iter().find(|(piece, _)| line.contains(piece));
    if let Some((piece, instead)) = piece {
        return Some(format!("`{piece}`: {instead}"));
    }
    source::words(line).find(|word| WORDS.contains(word)).map(|word| format!("`{word}`: do it now or open an issue"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_piece_is_found() {
        for word in WORDS {
            let text = format!("fn a() {{}}\n// {word}: later\n");
            assert_eq!(
                Subject::complaints(&[("a.rs", &text)], check),
                [format!("error: a.rs:2: `{word}`: do it now or open an issue")]
            );
        }
        for (piece, instead) in PIECES {
            assert_eq!(
                Subject::complaints(&[("a.rs", &format!("{piece}\n"))], check),
                [format!("error: a.rs:1: `{piece}`: {instead}")]
            );
        }
    }

    #[test]
    fn longer_words_and_other_files_pass() {
        let longer = format!("const A{} : u8 = 0;\n", WORDS[0]);
        let files = [("a.rs", longer.as_str()), ("a.md", WORDS[1])];
        assert_eq!(Subject::complaints(&files, check), Vec::<String>::new());
    }
}
