//! The alphabets and lengths of ids and names.

use serde_json::Value;

/// True if `value` is a string that matches `^[a-zA-Z0-9_-]{1,max}$`.
pub(crate) fn is_word(value: Option<&Value>, max: usize) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    value.and_then(Value::as_str).is_some_and(|text| (1..=max).contains(&text.len()) && text.bytes().all(is_legal))
}

/// True if `value` is a string of one to `max` characters, of any alphabet.
pub(crate) fn is_short(value: Option<&Value>, max: usize) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| (1..=max).contains(&text.chars().count()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_short, is_word};

    #[test]
    fn a_word_is_letters_digits_underscore_and_hyphen() {
        assert!(is_word(Some(&json!("aZ09_-")), 6));
        for wrong in [json!(""), json!("a.b"), json!("é"), json!("toolong"), json!(null), json!(7)] {
            assert!(!is_word(Some(&wrong), 6), "{wrong}");
        }
        assert!(!is_word(None, 6));
    }

    #[test]
    fn a_short_string_is_counted_in_characters() {
        assert!(is_short(Some(&json!("é:|")), 3));
        assert!(!is_short(Some(&json!("éééé")), 3));
        assert!(!is_short(Some(&json!("")), 3));
        assert!(!is_short(None, 3));
    }
}
