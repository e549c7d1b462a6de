//! JSON text in the layouts that clients send.
//!
//! Keys have a fixed order (`role` before `content`) that does not depend on the JSON library's map, so the same value
//! always gives the same text.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The layout of a body as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Where the text has whitespace.
    pub layout: Layout,
    /// Which characters are escaped.
    pub escapes: Escapes,
}

impl Style {
    /// No whitespace and no unnecessary escape.
    pub const COMPACT: Self = Self { layout: Layout::Compact, escapes: Escapes::Needed };
}

/// Where the text has whitespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// No whitespace at all.
    Compact,
    /// After each comma and colon, as Python writes it.
    Spaced,
    /// A line for each value, indented by this many spaces per level.
    Indented(usize),
    /// As `Indented`, with the line ends of Windows.
    IndentedCrlf(usize),
}

/// Written as `\ud83d`: the first half of a surrogate pair without the second. A Rust string cannot hold it.
pub const LONE_HIGH: char = '\u{F8F0}';
/// Written as `\udc4d`: the second half of a surrogate pair without the first.
pub const LONE_LOW: char = '\u{F8F1}';
/// Ends the written part of a key. The rest only makes the key unique, so that a name can occur twice.
pub const REPEATED: char = '\u{F8F2}';
/// Starts a key whose characters are all escaped. The mark itself is not written.
pub const SPELT_OUT: char = '\u{F8F3}';

/// Which characters are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// The characters that JSON requires.
    Needed,
    /// Also the characters outside of ASCII, and the slash.
    All,
}

/// The JSON text of `value`.
pub fn write(value: &Value, style: Style) -> String {
    let mut writer = Writer { out: String::new(), style, depth: 0 };
    writer.value(value);
    writer.out
}

struct Writer {
    out: String,
    style: Style,
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) if !items.is_empty() => self.array(items),
            Value::Object(fields) if !fields.is_empty() => self.object(fields),
            other => self.out.push_str(&other.to_string()),
        }
    }

    fn array(&mut self, items: &[Value]) {
        self.open('[');
        for (index, item) in items.iter().enumerate() {
            self.separate(index);
            self.value(item);
        }
        self.close(']');
    }

    fn object(&mut self, fields: &Map<String, Value>) {
        self.open('{');
        for (index, (key, field)) in in_written_order(fields).into_iter().enumerate() {
            self.separate(index);
            self.key(key);
            self.out.push_str(if self.style.layout == Layout::Compact { ":" } else { ": " });
            self.value(field);
        }
        self.close('}');
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.depth += 1;
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        self.break_line();
        self.out.push(bracket);
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
            if self.style.layout == Layout::Spaced {
                self.out.push(' ');
            }
        }
        self.break_line();
    }

    fn break_line(&mut self) {
        let (end, width) = match self.style.layout {
            Layout::Compact | Layout::Spaced => return,
            Layout::Indented(width) => ("\n", width),
            Layout::IndentedCrlf(width) => ("\r\n", width),
        };
        self.out.push_str(end);
        self.out.extend(std::iter::repeat_n(' ', width * self.depth));
    }

    fn key(&mut self, key: &str) {
        let name = written(key);
        if key.starts_with(SPELT_OUT) {
            self.out.push('"');
            name.chars().for_each(|c| self.code_units(c));
            self.out.push('"');
        } else {
            self.string(name);
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        text.chars().for_each(|c| self.character(c));
        self.out.push('"');
    }

    fn character(&mut self, c: char) {
        let all = self.style.escapes == Escapes::All;
        match c {
            '"' => self.out.push_str("\\\""),
            '\\' => self.out.push_str("\\\\"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            LONE_HIGH => self.out.push_str("\\ud83d"),
            LONE_LOW => self.out.push_str("\\udc4d"),
            '/' if all => self.out.push_str("\\/"),
            c if c < ' ' || (all && !c.is_ascii()) => self.code_units(c),
            c => self.out.push(c),
        }
    }

    fn code_units(&mut self, c: char) {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a `String` cannot fail.
            let _ = write!(self.out, "\\u{unit:04x}");
        }
    }
}

/// Keys that come first, as in a handwritten body; the rest follow by name.
const FIRST_KEYS: [&str; 15] = [
    "model",
    "max_tokens",
    "system",
    "tools",
    "messages",
    "contents",
    "role",
    "type",
    "id",
    "tool_use_id",
    "tool_call_id",
    "toolUseId",
    "name",
    "content",
    "parts",
];

fn in_written_order(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let rank = |key: &str| FIRST_KEYS.iter().position(|first| *first == key).unwrap_or(FIRST_KEYS.len());
    let mut ordered: Vec<_> = fields.iter().collect();
    ordered.sort_by_key(|(key, _)| (rank(written(key)), written(key), *key));
    ordered
}

/// The name that is written for a key.
fn written(key: &str) -> &str {
    let key = key.strip_prefix(SPELT_OUT).unwrap_or(key);
    key.split_once(REPEATED).map_or(key, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Escapes, LONE_HIGH, LONE_LOW, Layout, REPEATED, SPELT_OUT, Style, write};

    const LAYOUTS: [Layout; 4] = [Layout::Compact, Layout::Spaced, Layout::Indented(2), Layout::IndentedCrlf(1)];

    #[test]
    fn compact_text_has_its_keys_in_written_order() {
        let value = json!({"content": "hi", "role": "user", "zeta": [1, 2.5], "alpha": {}});
        let expected = r#"{"role":"user","content":"hi","alpha":{},"zeta":[1,2.5]}"#;
        assert_eq!(write(&value, Style::COMPACT), expected);
    }

    #[test]
    fn indented_text_gives_each_value_a_line() {
        let style = Style { layout: Layout::Indented(2), escapes: Escapes::Needed };
        assert_eq!(write(&json!({"a": [1, []]}), style), "{\n  \"a\": [\n    1,\n    []\n  ]\n}");
    }

    #[test]
    fn windows_line_ends_are_written() {
        let style = Style { layout: Layout::IndentedCrlf(1), escapes: Escapes::Needed };
        assert_eq!(write(&json!({"a": "b\n"}), style), "{\r\n \"a\": \"b\\n\"\r\n}");
    }

    #[test]
    fn half_characters_repeated_keys_and_escaped_keys_are_written() {
        let text = format!("a{LONE_HIGH}b{LONE_LOW}");
        assert_eq!(write(&json!(text), Style::COMPACT), r#""a\ud83db\udc4d""#);
        let fields = [("b".to_owned(), json!(3)), ("a".to_owned(), json!(1)), (format!("a{REPEATED}"), json!(2))];
        let twice = Value::Object(fields.into_iter().collect());
        assert_eq!(write(&twice, Style::COMPACT), r#"{"a":1,"a":2,"b":3}"#);
        let spelt = Value::Object([(format!("{SPELT_OUT}id"), json!(1))].into_iter().collect());
        assert_eq!(write(&spelt, Style::COMPACT), r#"{"\u0069\u0064":1}"#);
    }

    #[test]
    fn spaced_text_is_what_python_writes() {
        let style = Style { layout: Layout::Spaced, escapes: Escapes::Needed };
        assert_eq!(write(&json!({"a": [1, 2], "b": null}), style), r#"{"a": [1, 2], "b": null}"#);
    }

    #[test]
    fn every_style_reads_back_as_the_same_value() {
        let value = json!({"text": "é 👩 \" \\ / \n \u{1} \u{2028}", "nested": [{"n": -1.5e3}, true, null]});
        for layout in LAYOUTS {
            for escapes in [Escapes::Needed, Escapes::All] {
                let text = write(&value, Style { layout, escapes });
                assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
                assert!(escapes == Escapes::Needed || text.is_ascii());
            }
        }
    }
}
