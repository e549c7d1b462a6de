//! Marks failed tools in the text of a result, for dialects that have no flag for it.

use seamline_model::is_synthetic;

/// The mark at the start of a failed tool's output.
const FAILED: &str = "[tool error] ";

/// The mark for output that starts with one of these marks although the tool did not fail.
const DONE: &str = "[tool output] ";

/// The text of a result whose output had to move out of it.
pub(super) const FOLLOWS: &str = seamline_model::OUTPUT_FOLLOWS;

/// Marks the text of a result, if it needs a mark. Synthetic results stay unchanged: they are recognised by their text,
/// so that a real result can replace them later.
pub(crate) fn marked(text: &str, failed: bool, made_up: bool) -> String {
    match failed {
        _ if made_up => text.to_owned(),
        true => [FAILED, text].concat(),
        false if text.starts_with(FAILED) || text.starts_with(DONE) => [DONE, text].concat(),
        false => text.to_owned(),
    }
}

/// Whether the text of a result is a known synthetic text, or one of these.
pub(super) fn is_made_up(text: &str, others: &[String]) -> bool {
    is_synthetic(text) || others.iter().any(|other| other.trim() == text.trim())
}

/// Takes the mark off the text of a result, and says whether it marks a failure. A synthetic result counts as a
/// failure.
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
    fn a_synthetic_text_stays_unchanged_and_counts_as_a_failure() {
        let text = seamline_model::NO_RESULT;
        assert_eq!(marked(text, true, is_made_up(text, &[])), text);
        assert_eq!(unmarked(text), (text, true));
        let own = ["[synthetic] lost at sea".to_owned()];
        assert!(is_made_up("[synthetic] lost at sea\n", &own) && !is_made_up("[synthetic] lost", &own));
    }
}
