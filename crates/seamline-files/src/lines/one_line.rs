//! Records on lines of their own.

use serde::de::IgnoredAny;

/// Puts the JSON of a record on one line. Line breaks between values become spaces; in a text that is not JSON they become
/// something that is not JSON either.
pub fn on_one_line(text: String) -> String {
    if !text.contains(['\n', '\r']) {
        return text;
    }
    let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
    text.replace(['\n', '\r'], if is_json { " " } else { "\u{b}" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_text_stays_broken() {
        assert_eq!(on_one_line("{\"a\":\n1}".to_owned()), "{\"a\": 1}");
        assert!(serde_json::from_str::<IgnoredAny>(&on_one_line("{\"a\":\"x\ny\"}".to_owned())).is_err());
    }
}
