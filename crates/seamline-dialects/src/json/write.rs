//! Writes JSON in the layout of the document it goes into.

use std::borrow::Cow;

use super::text::escape_into;

/// A piece of JSON to be written.
#[derive(Debug, Clone)]
pub(crate) enum Json<'a> {
    /// Source text, copied unchanged.
    Raw(&'a str),
    /// Text that is JSON already.
    Written(String),
    /// A string.
    Text(String),
    /// A string of our text, the inside of a string of the source, unchanged, and our text again.
    Joined(String, &'a str, String),
    /// A boolean.
    Bool(bool),
    /// `null`.
    Null,
    /// An object.
    Object(Vec<(&'static str, Json<'a>)>),
    /// An object whose keys are source text, between quotes.
    Members(Vec<(Cow<'a, str>, Json<'a>)>),
    /// A list.
    List(Vec<Json<'a>>),
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

    /// Writes `json` as a value at the given depth.
    pub(crate) fn write(&self, out: &mut String, json: &Json<'_>, depth: usize) {
        match json {
            Json::Raw(text) => out.push_str(text),
            Json::Written(text) => out.push_str(text),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Null => out.push_str("null"),
            Json::Text(text) => {
                out.push('"');
                escape_into(out, text);
                out.push('"');
            }
            Json::Joined(before, raw, after) => {
                out.push('"');
                escape_into(out, before);
                out.push_str(raw);
                escape_into(out, after);
                out.push('"');
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

    fn write_list(&self, out: &mut String, elements: &[Json<'_>], depth: usize) {
        out.push('[');
        for (index, element) in elements.iter().enumerate() {
            self.separate(out, index, depth + 1);
            self.write(out, element, depth + 1);
        }
        self.finish(out, elements.len(), depth);
        out.push(']');
    }

    fn write_object<'j>(
        &self,
        out: &mut String,
        members: impl ExactSizeIterator<Item = (&'j str, &'j Json<'j>)>,
        depth: usize,
    ) {
        let count = members.len();
        out.push('{');
        for (index, (key, value)) in members.enumerate() {
            self.separate(out, index, depth + 1);
            out.push('"');
            out.push_str(key);
            out.push('"');
            out.push_str(self.colon());
            self.write(out, value, depth + 1);
        }
        self.finish(out, count, depth);
        out.push('}');
    }

    /// The text between a key and its value.
    pub(crate) fn colon(&self) -> &'static str {
        if self.colon_space { ": " } else { ":" }
    }

    /// The text before an element that was written or moved.
    pub(crate) fn separate(&self, out: &mut String, index: usize, depth: usize) {
        if index > 0 {
            out.push(',');
        }
        if self.indent.is_some() {
            self.new_line(out, depth);
        } else if index > 0 && self.comma_space {
            out.push(' ');
        }
    }

    /// The text between the last element and the closing bracket.
    pub(crate) fn finish(&self, out: &mut String, count: usize, depth: usize) {
        if count > 0 && self.indent.is_some() {
            self.new_line(out, depth);
        }
    }

    fn new_line(&self, out: &mut String, depth: usize) {
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
