//! How ids are named in messages.

use std::fmt::Write as _;

/// The most ids that are listed.
const LISTED_MAX: usize = 5;

/// Ids in backticks, the rest counted.
pub(crate) fn named(ids: &[&str]) -> String {
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
