//! The text between the quotes of JSON strings.

use std::borrow::Cow;

use super::write::Sink;

/// The readable text at the start of a value's source: a string without its quotes and escapes; of anything else the
/// first `text` or `content`, or the source.
pub fn said(source: &str) -> Cow<'_, str> {
    let source = source.trim_start();
    if let Some(inner) = source.strip_prefix('"') {
        return unescape(until_quote(inner));
    }
    for key in ["\"text\"", "\"content\""] {
        let value = source.split_once(key).map(|(_, rest)| rest.trim_start_matches([' ', ':', '\n', '\t']));
        if let Some(inner) = value.and_then(|value| value.strip_prefix('"')) {
            return unescape(until_quote(inner));
        }
    }
    Cow::Borrowed(source)
}

fn until_quote(inner: &str) -> &str {
    let mut escaped = false;
    let end = inner.find(|char| {
        let ends = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        ends
    });
    &inner[..end.unwrap_or(inner.len())]
}

/// Decodes the text between the quotes of a JSON string. Half surrogate pairs become U+FFFD.
pub(crate) fn unescape(inner: &str) -> Cow<'_, str> {
    let Some(first) = inner.find('\\') else {
        return Cow::Borrowed(inner);
    };
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    let mut slash = Some(first);
    while let Some(at) = slash {
        out.push_str(&rest[..at]);
        let (char, used) = read_escape(&rest[at..]);
        out.push(char);
        rest = rest.get(at + used..).unwrap_or("");
        slash = rest.find('\\');
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Splits the text between the quotes into half a character at its start and half a character at its end, which are
/// escapes of single UTF-16 code units, and the text between them.
pub(crate) fn between_halves(inner: &str) -> (Option<u16>, &str, Option<u16>) {
    let unit = |at| hex_escape(inner.as_bytes(), at);
    let start = unit(0).filter(|unit| matches!(unit, 0xdc00..=0xdfff));
    let rest = &inner[if start.is_some() { ESCAPE_BYTES } else { 0 }..];
    let end = inner.len().checked_sub(ESCAPE_BYTES).filter(|_| rest.len() >= ESCAPE_BYTES);
    let end = end.and_then(unit).filter(|unit| matches!(unit, 0xd800..=0xdbff));
    let between = end.and_then(|_| rest.get(..rest.len() - ESCAPE_BYTES)).unwrap_or(rest);
    // A backslash that is itself escaped begins no escape.
    let slashes = between.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if slashes % 2 == 0 { (start, between, end) } else { (start, rest, None) }
}

/// The length of the escape of a code unit.
const ESCAPE_BYTES: usize = 6;

/// The character of the escape at the start of `text`, and how many bytes it takes.
fn read_escape(text: &str) -> (char, usize) {
    let char = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return read_unicode_escape(text),
        Some(&other) => other as char,
        None => return ('\\', 1),
    };
    (char, 2)
}

fn read_unicode_escape(text: &str) -> (char, usize) {
    let bytes = text.as_bytes();
    let Some(high) = hex_escape(bytes, 0) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    let low = hex_escape(bytes, 6);
    let units = [high, low.unwrap_or(0)];
    match char::decode_utf16(units).next() {
        Some(Ok(char)) if char.len_utf16() == 2 => (char, 12),
        Some(Ok(char)) => (char, 6),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape_into(&mut out, text);
    out.push('"');
    out
}

/// Writes `text` with escapes, for the inside of a JSON string.
pub(crate) fn escape_into(out: &mut impl Sink, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// The code unit of the four-digit `\u` escape at `at`.
pub(super) fn hex_escape(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let mut unit = 0;
    for &digit in digits {
        let value = (digit as char).to_digit(16)?;
        unit = unit << 4 | value as u16;
    }
    Some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_as_what_they_mean() {
        assert_eq!(unescape(r#"a\n\"\\\/\u0041\ud83d\ude00\ud83d"#), "a\n\"\\/A\u{1f600}\u{fffd}");
        assert_eq!(unescape(r"\ude00x"), "\u{fffd}x");
    }

    #[test]
    fn half_a_character_is_found_at_either_end() {
        for (inner, wanted) in [
            (r"a\ud83d", (None, "a", Some(0xd83d))),
            (r"a\\\ud83d", (None, r"a\\", Some(0xd83d))),
            (r"a\\ud83d", (None, r"a\\ud83d", None)),
            (r"\ude00b", (Some(0xde00), "b", None)),
            (r"\ude00", (Some(0xde00), "", None)),
            (r"\uDE00\uD83D", (Some(0xde00), "", Some(0xd83d))),
            (r"\ud83d\ude00", (None, r"\ud83d\ude00", None)),
            (r"\u0041", (None, r"\u0041", None)),
            ("", (None, "", None)),
        ] {
            assert_eq!(between_halves(inner), wanted, "{inner}");
        }
    }

    #[test]
    fn an_escaped_text_reads_back_the_same() {
        let text = "quote \" slash \\ tab \t bell \u{7} smile \u{1f600}\r\n";
        let mut out = String::new();
        escape_into(&mut out, text);
        assert_eq!(unescape(&out), text);
    }
}
