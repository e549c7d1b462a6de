//! Content that a repair keeps as text, between the marks of a [`Fence`].

use std::borrow::Cow;

use seamline_model::Fence;

use crate::json::{Json, Kind, Value, list};

/// Content that a repair keeps as text. The marks hold a hash of the whole value, so nothing in it can end the fence.
pub(crate) struct Fenced {
    fence: Fence,
    /// Lines about the content, each with a line break before it. They are in the fence, because they are not ours.
    lines: String,
}

impl Fenced {
    /// The marks around what is kept of a value.
    pub(crate) fn of(heading: &str, value: Value<'_, '_>) -> Self {
        Self::around(heading, value.raw())
    }

    /// The marks around a source text.
    pub(crate) fn around(heading: &str, source: &str) -> Self {
        Self { fence: Fence::around(heading, source), lines: String::new() }
    }

    /// Adds lines about the content.
    pub(crate) fn with(mut self, lines: &str) -> Self {
        self.lines.push_str(lines);
        self
    }

    /// The text before the content.
    fn before(&self) -> String {
        [self.fence.begin(), &self.lines].concat()
    }

    /// A text of ours as content.
    pub(crate) fn text<'a>(&self, content: &str) -> Json<'a> {
        Json::Text([&self.before(), "\n", content, "\n", self.fence.end()].concat())
    }

    /// A string of the source as content, byte for byte.
    pub(crate) fn string<'a>(&self, content: Value<'_, 'a>) -> Json<'a> {
        let (before, after) = (format!("{}\n", self.before()), format!("\n{}", self.fence.end()));
        Json::Joined(Box::new((before, content.raw_str(), after)))
    }

    /// Lines of the source as content.
    pub(crate) fn lines<'a>(&self, lines: &[Cow<'_, str>]) -> Json<'a> {
        if lines.is_empty() { self.nothing() } else { self.text(&lines.join("\n")) }
    }

    /// The marks without content.
    pub(crate) fn nothing<'a>(&self) -> Json<'a> {
        Json::Text([&self.before(), "\n", self.fence.end()].concat())
    }

    /// Blocks as content: the marks are blocks of their own. `text` writes a text block.
    pub(crate) fn blocks<'a>(
        &self,
        content: impl IntoIterator<Item = Json<'a>>,
        text: impl Fn(Json<'a>) -> Json<'a>,
    ) -> Vec<Json<'a>> {
        let begin = text(Json::Text(self.before()));
        let end = text(Json::Text(self.fence.end().to_owned()));
        std::iter::once(begin).chain(content).chain([end]).collect()
    }

    /// A content of any kind: a string stays a string, a list gets the marks as its first and last blocks.
    pub(crate) fn content<'a>(&self, content: Option<Value<'_, 'a>>, text: impl Fn(Json<'a>) -> Json<'a>) -> Json<'a> {
        match content.map(|content| (content, content.kind())) {
            Some((words, Kind::String)) => self.string(words),
            Some((blocks, Kind::Array)) => {
                list(self.blocks(blocks.elements().map(|block| Json::Raw(block.raw())), text))
            }
            Some((other, kind)) if kind != Kind::Null => self.text(other.raw()),
            _ => self.nothing(),
        }
    }
}
