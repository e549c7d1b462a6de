//! Cuts long texts, so that the conversation of a very large file can be checked in little memory.

use std::borrow::Cow;

/// How much of long texts a reading keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeptTexts {
    /// All of it.
    #[default]
    Whole,
    /// The start of each long text. Enough for a check of the order and pairing of messages; never written back.
    Abridged,
}

/// The members whose long texts are cut. No rule reads more than the start of them.
const TEXTS: &[&str] = &["text", "content", "thinking", "output", "summary", "reasoning_content", "stdout", "stderr"];
/// The most bytes of such a text.
const TEXT_BYTES: usize = 64;

impl KeptTexts {
    /// A part of a record for the carrier.
    pub(crate) fn keep(self, json: &str) -> Cow<'_, str> {
        match self {
            Self::Abridged if json.len() > TEXT_BYTES => Cow::Owned(abridge(json)),
            Self::Whole | Self::Abridged => Cow::Borrowed(json),
        }
    }
}

/// Copies valid JSON with its long texts cut.
fn abridge(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len().min(4096));
    let mut at = 0;
    // The last string, and whether the next one is the value of a text member.
    let (mut key, mut is_value) = ("", false);
    while at < bytes.len() {
        let Some(start) = bytes[at..].iter().position(|byte| *byte == b'"').map(|offset| at + offset) else { break };
        let between = &json[at..start];
        is_value = between.contains(':') || (is_value && !between.contains(['{', '}']) && between.contains('['));
        out.push_str(between);
        let end = string_end(bytes, start);
        let inner = &json[start + 1..end];
        if is_value && TEXTS.contains(&key) {
            out.push('"');
            out.push_str(cut(inner));
            out.push('"');
        } else {
            out.push_str(&json[start..=end]);
        }
        key = inner;
        at = end + 1;
    }
    out.push_str(&json[at..]);
    out
}

/// The place of the quote that ends a string.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len() - 1
}

/// The start of the inner text of a string, cut where no escape is split. A text that may be JSON, or that begins with
/// more spaces than are kept, stays whole.
fn cut(inner: &str) -> &str {
    let is_plain = inner.len() > TEXT_BYTES && !inner.starts_with(['{', '[']);
    if !is_plain {
        return inner;
    }
    let mut end = 0;
    while let Some(length) = unit(&inner[end..]).filter(|length| end + length <= TEXT_BYTES) {
        end += length;
    }
    let start = &inner[..end];
    let is_blank = start.replace("\\n", "").replace("\\t", "").replace("\\r", "").trim().is_empty();
    if is_blank { inner } else { start }
}

/// The bytes of the first character of the inner text of a string. The escapes of a surrogate pair are one character.
fn unit(inner: &str) -> Option<usize> {
    let escape =
        |from: usize| inner.get(from..).and_then(|rest| rest.strip_prefix("\\u")).and_then(|rest| rest.get(..4));
    let is_half = |digits: Option<&str>, first: [char; 4]| {
        digits.is_some_and(|digits| {
            digits[..1].eq_ignore_ascii_case("d") && digits[1..].to_ascii_lowercase().starts_with(first)
        })
    };
    let length = match inner.chars().next()? {
        '\\' if is_half(escape(0), ['8', '9', 'a', 'b']) && is_half(escape(6), ['c', 'd', 'e', 'f']) => 12,
        '\\' if escape(0).is_some() => 6,
        '\\' => 2,
        other => other.len_utf8(),
    };
    Some(length.min(inner.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_the_rest_stays() {
        let long = "word ".repeat(100);
        let json = format!(r#"{{"type":"text","text":"{long}","signature":"{long}","input":{{"a":"{long}"}}}}"#);
        let short = KeptTexts::Abridged.keep(&json).into_owned();
        let value: serde_json::Value = serde_json::from_str(&short).unwrap();
        assert_eq!(value["text"].as_str().unwrap().len(), TEXT_BYTES);
        assert_eq!(value["signature"].as_str().unwrap(), long);
        assert_eq!(value["input"]["a"].as_str().unwrap(), long);
        assert_eq!(KeptTexts::Whole.keep(&json), json);
    }

    #[test]
    fn a_cut_splits_no_escape_and_keeps_json_and_spaces() {
        for at in 40..70 {
            let text = format!(r#"{{"text":"{}\ud83d\ude00\\\"{}"}}"#, "x".repeat(at), "y".repeat(90));
            let value: Result<serde_json::Value, _> = serde_json::from_str(&KeptTexts::Abridged.keep(&text));
            assert!(value.is_ok(), "{at}");
        }
        let spaces = format!(r#"{{"text":"{}x"}}"#, "\\n".repeat(80));
        assert_eq!(KeptTexts::Abridged.keep(&spaces), spaces);
        let object = format!(r#"{{"output":"{{\"a\":\"{}\"}}"}}"#, "z".repeat(200));
        assert_eq!(KeptTexts::Abridged.keep(&object), object);
    }
}
