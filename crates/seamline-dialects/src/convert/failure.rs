//! That a tool failed, in dialects that have no word for it.

use seamline_model::MARK;

/// Stands at the start of what a failed tool gave.
const FAILED: &str = "[tool error] ";

/// Stands there when a tool that did not fail gave something that starts with one of these marks.
const DONE: &str = "[tool output] ";

/// What a result says whose output had to move out of it.
pub(super) const FOLLOWS: &str = seamline_model::OUTPUT_FOLLOWS;

/// A result's text with its mark, if it needs one. What was made up carries a mark of its
/// own, by which a real result that turns up later takes its place.
pub(crate) fn marked(text: &str, failed: bool) -> String {
    match failed {
        _ if text.starts_with(MARK) => text.to_owned(),
        true => [FAILED, text].concat(),
        false if text.starts_with(FAILED) || text.starts_with(DONE) => [DONE, text].concat(),
        false => text.to_owned(),
    }
}

/// A result's text without its mark, and whether the mark says that the tool failed.
pub(super) fn unmarked(text: &str) -> (&str, bool) {
    match (text.strip_prefix(FAILED), text.strip_prefix(DONE)) {
        (Some(text), _) => (text, true),
        (None, Some(text)) => (text, false),
        (None, None) => (text, text.starts_with(MARK) && text != FOLLOWS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_whatever_the_text() {
        for text in ["", "no such file", "[tool error] quoted", "[tool output] quoted", "[tool error]"] {
            for failed in [false, true] {
                assert_eq!(unmarked(&marked(text, failed)), (text, failed));
            }
        }
    }
}
