//! Writes JSON in the layout of the document it goes into.

use std::borrow::Cow;

use super::text::escape_into;

/// Takes text piece by piece.
pub(crate) trait Sink {
    fn push_str(&mut self, text: &str);
}

impl Sink for String {
    fn push_str(&mut self, text: &str) {
        Self::push_str(self, text);
    }
}

impl Sink for Vec<u8> {
    fn push_str(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }
}

/// Counts the bytes of a text.
struct Length(usize);

impl Sink for Length {
    fn push_str(&mut self, text: &str) {
        self.0 += text.len();
    }
}

/// A piece of JSON to be written.
#[derive(Debug, Clone)]
pub(crate) enum Json<'a> {
    /// Source text, copied unchanged.
    Raw(&'a str),
    /// Text that is JSON already.
    Written(String),
    /// A string of our own.
    Text(String),
    /// A string of our text, the inside of a string of the source, unchanged, and our text again.
    Joined(Box<(String, &'a str, String)>),
    /// `true` or `false`.
    Bool(bool),
    /// The value `null`.
    Null,
    /// An object with keys of our own.
    Object(Vec<(&'static str, Json<'a>)>),
    /// An object whose keys are source text, between quotes.
    Members(Vec<(Cow<'a, str>, Json<'a>)>),
    /// A list of values.
    List(Vec<Json<'a>>),
}

const _: () = assert!(size_of::<Json<'_>>() == 32, "a message can have a hundred thousand of them");

/// The number of elements from which on a text is measured before it is written.
const LONG: usize = 256;

/// The bytes that a text has room for before a further element is written to it.
const SPARE_BYTES: usize = 4096;

impl Json<'_> {
    /// Whether it has many elements.
    fn is_long(&self) -> bool {
        match self {
            Self::List(elements) => elements.len() >= LONG,
            Self::Object(members) => members.iter().any(|(_, value)| value.is_long()),
            _ => false,
        }
    }
}

/// An object with these members.
pub(crate) fn object<'a, const N: usize>(members: [(&'static str, Json<'a>); N]) -> Json<'a> {
    Json::Object(members.into())
}

/// A list with these elements.
pub(crate) fn list(elements: Vec<Json<'_>>) -> Json<'_> {
    Json::List(elements)
}

/// A member whose value is a string.
pub(crate) fn member<'a>(key: &'static str, text: impl Into<String>) -> (&'static str, Json<'a>) {
    (key, Json::Text(text.into()))
}

/// The layout of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    /// One level of indentation. It is empty when everything is on one line.
    indent: Option<String>,
    /// The line ending.
    newline: &'static str,
    /// Whether a space follows a colon.
    colon_space: bool,
    /// Whether a space follows a comma.
    comma_space: bool,
}

impl Style {
    /// The number of bytes by which the layout is judged.
    pub(crate) const HEAD_BYTES: usize = 4096;

    /// The layout of a document, judged by its first lines.
    pub(crate) fn of(body: &[u8]) -> Self {
        let head = body[..body.len().min(Self::HEAD_BYTES)].utf8_chunks().next().map_or("", |chunk| chunk.valid());
        // The first sign of each kind decides, so that a message at the end changes no layout.
        let newline = if head.find('\n').is_some_and(|at| head[..at].ends_with('\r')) { "\r\n" } else { "\n" };
        let after_brace = head.trim_start().strip_prefix('{').unwrap_or("");
        let space: String = after_brace.chars().take_while(|char| char.is_whitespace()).collect();
        let indent = space.rsplit_once('\n').map(|(_, indent)| indent.to_owned()).filter(|indent| !indent.is_empty());
        let colon_space = head.find("\":").is_some_and(|at| head[at + 2..].starts_with(' '));
        let first_of =
            |signs: [&str; 2]| signs.into_iter().filter_map(|sign| head.find(sign)).min().unwrap_or(usize::MAX);
        let comma_space = indent.is_none() && first_of([", \"", ", {"]) < first_of([",\"", ",{"]);
        Self { indent, newline, colon_space, comma_space }
    }

    /// The text of `json` as a value at the given depth.
    pub(crate) fn text(&self, json: &Json<'_>, depth: usize) -> String {
        let mut text = String::with_capacity(self.room_for(json, depth));
        self.write(&mut text, json, depth);
        text
    }

    /// The number of bytes that a value with many elements takes; 0 for any other. A buffer that doubles takes three times
    /// the memory of a long text while it grows.
    pub(crate) fn room_for(&self, json: &Json<'_>, depth: usize) -> usize {
        let mut length = Length(0);
        if json.is_long() {
            self.write(&mut length, json, depth);
        }
        length.0
    }

    /// Writes `json` as a value at the given depth.
    pub(crate) fn write(&self, out: &mut impl Sink, json: &Json<'_>, depth: usize) {
        match json {
            Json::Raw(text) => out.push_str(text),
            Json::Written(text) => out.push_str(text),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Null => out.push_str("null"),
            Json::Text(text) => {
                out.push_str("\"");
                escape_into(out, text);
                out.push_str("\"");
            }
            Json::Joined(joined) => {
                let (before, raw, after) = &**joined;
                out.push_str("\"");
                escape_into(out, before);
                out.push_str(raw);
                escape_into(out, after);
                out.push_str("\"");
            }
            Json::List(elements) => self.write_list(out, elements, depth),
            Json::Object(members) => {
                self.write_object(out, members.iter().map(|(key, value)| (*key, value)), depth);
            }
            Json::Members(members) => {
                self.write_object(out, members.iter().map(|(key, value)| (&**key, value)), depth);
            }
        }
    }

    fn write_list(&self, out: &mut impl Sink, elements: &[Json<'_>], depth: usize) {
        out.push_str("[");
        for (index, element) in elements.iter().enumerate() {
            self.separate(out, index, depth + 1);
            self.write(out, element, depth + 1);
        }
        self.finish(out, elements.len(), depth);
        out.push_str("]");
    }

    fn write_object<'j>(
        &self,
        out: &mut impl Sink,
        members: impl ExactSizeIterator<Item = (&'j str, &'j Json<'j>)>,
        depth: usize,
    ) {
        let count = members.len();
        out.push_str("{");
        for (index, (key, value)) in members.enumerate() {
            self.separate(out, index, depth + 1);
            out.push_str("\"");
            out.push_str(key);
            out.push_str("\"");
            out.push_str(self.colon());
            self.write(out, value, depth + 1);
        }
        self.finish(out, count, depth);
        out.push_str("}");
    }

    /// Writes an object whose last member is a list. Each element is freed when it is written.
    pub(crate) fn write_with_list<'j>(
        &self,
        out: &mut String,
        members: &[(&'static str, Json<'_>)],
        (key, elements): (&'static str, impl Iterator<Item = Json<'j>>),
    ) {
        out.push('{');
        for (index, (key, value)) in members.iter().enumerate() {
            self.separate(out, index, 1);
            out.push_str(&["\"", key, "\"", self.colon()].concat());
            self.write(out, value, 1);
        }
        self.separate(out, members.len(), 1);
        out.push_str(&["\"", key, "\"", self.colon(), "["].concat());
        let mut count = 0;
        for element in elements {
            self.separate(out, count, 2);
            let room = self.room_for(&element, 2).max(SPARE_BYTES);
            if out.capacity() - out.len() < room {
                // A text that doubles takes three times its memory while it grows.
                out.reserve_exact(room.max(out.len() / 8));
            }
            self.write(out, &element, 2);
            count += 1;
        }
        self.finish(out, count, 1);
        out.push(']');
        self.finish(out, members.len() + 1, 0);
        out.push('}');
    }

    /// The text between a key and its value.
    pub(crate) fn colon(&self) -> &'static str {
        if self.colon_space { ": " } else { ":" }
    }

    /// The text before an element that was written or moved.
    pub(crate) fn separate(&self, out: &mut impl Sink, index: usize, depth: usize) {
        if index > 0 {
            out.push_str(",");
        }
        if self.indent.is_some() {
            self.new_line(out, depth);
        } else if index > 0 && self.comma_space {
            out.push_str(" ");
        }
    }

    /// The text between the last element and the closing bracket.
    pub(crate) fn finish(&self, out: &mut impl Sink, count: usize, depth: usize) {
        if count > 0 && self.indent.is_some() {
            self.new_line(out, depth);
        }
    }

    fn new_line(&self, out: &mut impl Sink, depth: usize) {
        out.push_str(self.newline);
        for _ in 0..depth {
            out.push_str(self.indent.as_deref().unwrap_or(""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(source: &str) -> String {
        let json = object([member("a", "x"), ("b", list(vec![Json::Bool(true), Json::Null]))]);
        let mut out = String::new();
        Style::of(source.as_bytes()).write(&mut out, &json, 0);
        out
    }

    #[test]
    fn new_text_follows_the_documents_layout() {
        assert_eq!(written(r#"{"k":1}"#), r#"{"a":"x","b":[true,null]}"#);
        assert_eq!(written(r#"{"k": 1, "l": 2}"#), r#"{"a": "x", "b": [true, null]}"#);
        assert_eq!(written("{\n  \"k\": 1\n}"), "{\n  \"a\": \"x\",\n  \"b\": [\n    true,\n    null\n  ]\n}");
    }
}
