//! The words that dialects define, as opposed to those of a user, a model or a tool.

use crate::{ALL, ID_PREFIXES};

/// The media types of files that requests hold. All dialects use them.
const MEDIA_TYPES: &[&str] = &[
    "application/json",
    "application/pdf",
    "audio/mp3",
    "audio/wav",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/csv",
    "text/html",
    "text/markdown",
    "text/plain",
    "video/mp4",
];

/// Whether a dialect defines this word: as the name of a member, or as a value from a list such as a role or a type.
///
/// ```
/// use seamline_dialects::is_word;
///
/// assert!(is_word("tool_use_id") && is_word("assistant") && is_word("image/png"));
/// assert!(!is_word("hunter2"));
/// ```
pub fn is_word(word: &str) -> bool {
    ALL.iter().any(|dialect| dialect.words.binary_search(&word).is_ok()) || MEDIA_TYPES.contains(&word)
}

/// The prefix by which an id looks as if a provider gave it, such as `toolu_`; empty where it has none.
///
/// ```
/// assert_eq!(seamline_dialects::id_prefix("toolu_01A"), "toolu_");
/// assert_eq!(seamline_dialects::id_prefix("my-id"), "");
/// ```
pub fn id_prefix(id: &str) -> &'static str {
    let prefixes = ID_PREFIXES.iter().copied().flatten();
    prefixes.copied().find(|prefix| id.starts_with(prefix)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_dialect_are_sorted_and_hold_the_names_of_its_form() {
        for dialect in ALL {
            assert!(dialect.words.is_sorted_by(|one, next| one < next), "{dialect:?}");
            for name in [dialect.form.list, dialect.form.content, dialect.form.model, "role"] {
                assert!(name.is_empty() || dialect.words.contains(&name), "{dialect:?} {name}");
            }
        }
    }
}
