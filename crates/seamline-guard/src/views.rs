//! Views of a text: each one has one layer of quoting less.
//!
//! Gateways put an error into a string of their own error, programs print it as Python or JSON source, and people paste it
//! with broken lines. This module parses none of that: it removes one layer of escapes from the whole text after the
//! other, and the known sentences are searched in every view. So malformed wrapping cannot hide a sentence, and the work
//! stays linear.

use std::borrow::Cow;

/// The most layers of quoting that are removed.
pub const LAYERS_MAX: usize = 8;

/// The most bytes of a text that are read: half from the start, where errors are, and half from the end, where logs put
/// them.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;

/// The views of a text: unchanged first, then with fewer and fewer escapes. Never empty.
pub(crate) struct Views {
    list: Vec<String>,
}

impl Views {
    pub(crate) fn of(text: &str) -> Self {
        let mut list = vec![smooth(&ends(text))];
        while let Some(last) = list.last()
            && list.len() <= LAYERS_MAX
            && last.contains('\\')
        {
            let next = unescape(last);
            if next == *last {
                break;
            }
            list.push(next);
        }
        Self { list }
    }

    /// Iterates from the outermost view to the innermost one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(String::as_str)
    }

    /// Returns the text with all its escapes.
    pub(crate) fn outermost(&self) -> &str {
        self.list.first().map_or("", String::as_str)
    }
}

/// Removes all layers of quoting from a text.
pub(crate) fn bare(text: &str) -> String {
    Views::of(text).list.pop().unwrap_or_default()
}

/// Returns the start and the end of a long text; a short one unchanged.
fn ends(text: &str) -> Cow<'_, str> {
    if text.len() <= TEXT_BYTES_MAX {
        return Cow::Borrowed(text);
    }
    let half = (TEXT_BYTES_MAX - 1) / 2;
    let start = text.floor_char_boundary(half);
    let end = text.ceil_char_boundary(text.len() - half);
    Cow::Owned([&text[..start], "\n", &text[end..]].concat())
}

/// Replaces each run of white space with one blank and curly quotes with straight ones: copied errors have wrapped lines
/// and changed quotes.
fn smooth(text: &str) -> String {
    let mut out = Smooth::with_capacity(text.len());
    text.chars().for_each(|char| out.push(char));
    out.0
}

/// Removes one layer of JSON's or Python's escapes. The result is never longer than the text.
fn unescape(text: &str) -> String {
    let mut out = Smooth::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        rest[..at].chars().for_each(|char| out.push(char));
        let (char, length) = read_escape(&rest[at + 1..]);
        match char {
            Some(char) => out.push(char),
            // This is not an escape but a backslash of the text.
            None => out.push('\\'),
        }
        rest = &rest[at + 1 + length..];
    }
    rest.chars().for_each(|char| out.push(char));
    out.0
}

/// Returns the character of an escape, and how many bytes follow its backslash.
fn read_escape(rest: &str) -> (Option<char>, usize) {
    let Some(first) = rest.chars().next() else { return (None, 0) };
    match first {
        '"' | '\'' | '\\' | '/' | '`' => (Some(first), 1),
        'n' | 'r' | 't' | 'b' | 'f' => (Some(' '), 1),
        'u' => read_code(rest, 4),
        'x' => read_code(rest, 2),
        _ => (None, 0),
    }
}

/// Reads a character by its hexadecimal number. A half surrogate pair or a byte of a longer character becomes the
/// replacement character.
fn read_code(rest: &str, digits: usize) -> (Option<char>, usize) {
    let number = rest.get(1..=digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let Some(number) = number.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else { return (None, 0) };
    let is_byte_of_longer = digits == 2 && number >= 0x80;
    let char = char::from_u32(number).filter(|_| !is_byte_of_longer).unwrap_or(char::REPLACEMENT_CHARACTER);
    (Some(char), 1 + digits)
}

/// Text without runs of white space and without curly quotes.
struct Smooth(String);

impl Smooth {
    fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    fn push(&mut self, char: char) {
        match char {
            '\u{2018}' | '\u{2019}' | '\u{2bc}' => self.0.push('\''),
            '\u{201c}' | '\u{201d}' => self.0.push('"'),
            char if char.is_whitespace() || char.is_control() => {
                if !self.0.ends_with(' ') {
                    self.0.push(' ');
                }
            }
            char => self.0.push(char),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(text: &str) -> Vec<String> {
        Views::of(text).list
    }

    #[test]
    fn layers_are_removed_one_by_one() {
        assert_eq!(views(r#""a \"b \\\"c\\\"\"""#), [r#""a \"b \\\"c\\\"\"""#, r#""a "b \"c\""""#, r#""a "b "c""""#]);
    }

    #[test]
    fn escapes_of_json_and_python_are_removed() {
        assert_eq!(bare(r"it\'s \u0060x\u0060\nnext \x41"), "it's `x` next A");
        assert_eq!(bare(r"\ud83d \xe2"), "\u{fffd} \u{fffd}");
    }

    #[test]
    fn other_backslashes_stay() {
        assert_eq!(views(r"\d+ C:\Users \"), [r"\d+ C:\Users \"]);
        assert_eq!(bare(r"\u12 \u"), r"\u12 \u");
    }

    #[test]
    fn lines_and_quotes_are_smoothed() {
        assert_eq!(views(" a\r\n  \u{201c}b\u{201d}\u{2019}s\t"), [" a \"b\"'s "]);
    }

    #[test]
    fn layers_and_length_are_bounded() {
        let deep = "\\".repeat(1 << 12) + "\"";
        assert!(views(&deep).len() <= LAYERS_MAX + 1);
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert!(views(&long)[0].len() <= TEXT_BYTES_MAX);
        let log = long + "the end";
        assert!(views(&log)[0].starts_with('é') && views(&log)[0].ends_with("the end"));
    }
}
