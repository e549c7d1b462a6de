//! That a tool failed, in dialects that have no word for it.

use seamline_model::is_synthetic;

/// Stands at the start of what a failed tool gave.
const FAILED: &str = "[tool error] ";

/// Stands there when a tool that did not fail gave something that starts with one of these marks.
const DONE: &str = "[tool output] ";

/// What a result says whose output had to move out of it.
pub(super) const FOLLOWS: &str = seamline_model::OUTPUT_FOLLOWS;

/// A result's text with its mark, if it needs one. What was made up stays as it is: by its text
/// it is known, so that a real result that turns up later takes its place.
pub(crate) fn marked(text: &str, failed: bool, made_up: bool) -> String {
    match failed {
        _ if made_up => text.to_owned(),
        true => [FAILED, text].concat(),
        false if text.starts_with(FAILED) || text.starts_with(DONE) => [DONE, text].concat(),
        false => text.to_owned(),
    }
}

/// Whether a result's text is known to be made up, or is one of these.
pub(super) fn is_made_up(text: &str, others: &[String]) -> bool {
    is_synthetic(text) || others.iter().any(|other| other.trim() == text.trim())
}

/// A result's text without its mark, and whether the mark says that the tool failed. A call whose
/// result was made up has not succeeded.
pub(super) fn unmarked(text: &str) -> (&str, bool) {
    match (text.strip_prefix(FAILED), text.strip_prefix(DONE)) {
        (Some(text), _) => (text, true),
        (None, Some(text)) => (text, false),
        (None, None) => (text, is_synthetic(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_whatever_the_text() {
        let texts = ["", "no such file", "[tool error] quoted", "[tool output] quoted", "[tool error]"];
        for text in texts.into_iter().chain(["[synthetic] data, 40 rows", seamline_model::NO_OUTPUT, FOLLOWS]) {
            for failed in [false, true] {
                assert_eq!(unmarked(&marked(text, failed, is_made_up(text, &[]))), (text, failed));
            }
        }
    }

    #[test]
    fn what_was_made_up_stays_as_it_is_and_counts_as_a_failure() {
        let text = seamline_model::NO_RESULT;
        assert_eq!(marked(text, true, is_made_up(text, &[])), text);
        assert_eq!(unmarked(text), (text, true));
        let own = ["[synthetic] lost at sea".to_owned()];
        assert!(is_made_up("[synthetic] lost at sea\n", &own) && !is_made_up("[synthetic] lost", &own));
    }
}
