//! Formats ids for finding messages.

use std::fmt::Write as _;

/// The highest number of ids listed.
const LISTED_MAX: usize = 5;

/// The ids in backticks; ids after the first few are only counted.
pub(crate) fn list_ids(ids: &[&str]) -> String {
    let mut text = String::new();
    for (index, id) in ids.iter().take(LISTED_MAX).enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push('`');
        text.push_str(id);
        text.push('`');
    }
    if ids.len() > LISTED_MAX {
        // Writing to a string cannot fail.
        let _ = write!(text, " and {} more", ids.len() - LISTED_MAX);
    }
    text
}
