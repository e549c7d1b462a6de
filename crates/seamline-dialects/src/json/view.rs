//! Views of the values of a [`Document`].

use std::borrow::Cow;

use seamline_model::Span;

use super::scan::Document;
use super::text::{between_halves, unescape};

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    Number,
    True,
    False,
    Null,
}

impl Kind {
    /// The name of the kind in error texts.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "a list",
            Self::String => "a string",
            Self::Number => "a number",
            Self::True | Self::False => "a boolean",
            Self::Null => "null",
        }
    }
}

impl<'a> Document<'a> {
    /// The text of a span. The read part is known to be UTF-8; only other parts are checked again.
    #[inline]
    fn slice(&self, span: Span) -> &'a str {
        let known = span.moved(self.text_start.wrapping_neg());
        match self.text.get(known.range()) {
            Some(text) if span.start >= self.text_start => text,
            _ => self.bytes.get(span.range()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default(),
        }
    }

    /// The number of values and keys.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it holds no value, which is never so for JSON.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The outermost value.
    pub(crate) fn root(&self) -> Value<'_, 'a> {
        Value { document: self, node: 0 }
    }
}

/// One value of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'d, 'a> {
    pub(super) document: &'d Document<'a>,
    pub(super) node: u32,
}

impl<'d, 'a> Value<'d, 'a> {
    #[inline]
    fn node(self) -> super::scan::Node {
        self.document.nodes[self.node as usize]
    }

    pub(crate) fn kind(self) -> Kind {
        self.node().kind
    }

    pub(crate) fn is(self, kind: Kind) -> bool {
        self.kind() == kind
    }

    pub(crate) fn span(self) -> Span {
        let node = self.node();
        Span { start: node.start, end: node.end }
    }

    /// Its source text.
    pub(crate) fn raw(self) -> &'a str {
        self.document.slice(self.span())
    }

    /// The source text of a span of the same document.
    pub(crate) fn slice(self, span: Span) -> &'a str {
        self.document.slice(span)
    }

    /// The decoded text of a string, if it is one.
    #[expect(clippy::inline_always, reason = "every key of a body is compared with it")]
    #[inline(always)]
    pub(crate) fn str(self) -> Option<Cow<'a, str>> {
        let node = self.node();
        if node.kind != Kind::String {
            return None;
        }
        let inner = self.between_quotes(node);
        Some(if node.escaped { unescape(inner) } else { Cow::Borrowed(inner) })
    }

    /// The decoded text of a piece of a longer string, between half a character at its start and half a character at its
    /// end.
    pub(crate) fn halved(self) -> (Option<u16>, Cow<'a, str>, Option<u16>) {
        let node = self.node();
        let inner = self.raw_str();
        if !node.escaped {
            return (None, Cow::Borrowed(inner), None);
        }
        let (start, between, end) = between_halves(inner);
        (start, unescape(between), end)
    }

    /// The decoded name of a key.
    #[expect(clippy::inline_always, reason = "every key of a body is compared with it")]
    #[inline(always)]
    pub(crate) fn name(self) -> Cow<'a, str> {
        self.str().unwrap_or_default()
    }

    /// Whether it is a string that says `text`.
    #[inline]
    pub(crate) fn says(self, text: &str) -> bool {
        let node = self.node();
        if node.kind != Kind::String || node.escaped {
            return node.escaped && self.name() == text;
        }
        // Most keys that are looked for have another length than those that are there.
        (node.end - node.start) as usize == text.len() + 2 && self.between_quotes(node) == text
    }

    /// A string's source text between its quotes; empty for other values.
    pub(crate) fn raw_str(self) -> &'a str {
        let node = self.node();
        if node.kind == Kind::String { self.between_quotes(node) } else { "" }
    }

    #[inline]
    fn between_quotes(self, string: super::scan::Node) -> &'a str {
        self.document.slice(Span { start: string.start + 1, end: string.end - 1 })
    }

    /// The key of a member, given its value: the node right before it.
    pub(crate) fn key(self) -> Self {
        Self { document: self.document, node: self.node.saturating_sub(1) }
    }

    /// The node after a value and everything inside it. Only for values that are not the last of their list or object.
    pub(crate) fn after(self) -> Self {
        Self { document: self.document, node: self.node().next }
    }

    /// The elements of a list; none for other values.
    pub(crate) fn elements(self) -> impl Iterator<Item = Value<'d, 'a>> {
        self.children(Kind::Array)
    }

    /// The members of an object; none for other values.
    pub(crate) fn members(self) -> impl Iterator<Item = (Value<'d, 'a>, Value<'d, 'a>)> {
        let mut children = self.children(Kind::Object);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// The value as an object, if it is one.
    pub(crate) fn object(self) -> Option<Object<'d, 'a>> {
        self.is(Kind::Object).then_some(Object(self))
    }

    fn children(self, kind: Kind) -> impl Iterator<Item = Value<'d, 'a>> {
        let node = self.node();
        let document = self.document;
        let mut at = self.node + 1;
        let end = if node.kind == kind { node.next } else { at };
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let child = Value { document, node: at };
            at = document.nodes[at as usize].next;
            Some(child)
        })
    }
}

/// A value that is an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Object<'d, 'a>(Value<'d, 'a>);

impl<'d, 'a> Object<'d, 'a> {
    /// The value of a key. If the key is repeated, the last value is used, as every known reader does.
    pub(crate) fn get(self, key: &str) -> Option<Value<'d, 'a>> {
        self.member(key).map(|(_, value)| value)
    }

    /// The values of several keys, found in one pass. The last value of a repeated key is used.
    #[inline]
    pub(crate) fn values<const KEYS: usize>(self, keys: [&str; KEYS]) -> [Option<Value<'d, 'a>>; KEYS] {
        let mut values = [None; KEYS];
        for (name, value) in self.0.members() {
            let name = name.name();
            if let Some(at) = keys.iter().position(|key| *key == name) {
                values[at] = Some(value);
            }
        }
        values
    }

    /// A key and its value.
    pub(crate) fn member(self, key: &str) -> Option<(Value<'d, 'a>, Value<'d, 'a>)> {
        self.0.members().filter(|(name, _)| name.says(key)).last()
    }

    /// The spans to cut to remove the members with these keys and keep the object well-formed.
    pub(crate) fn cut(self, keys: &[&str]) -> Vec<Span> {
        self.cut_where(|key| keys.contains(&&*key.name()))
    }

    /// The spans to cut for the members whose keys pass a test.
    pub(crate) fn cut_where(self, goes: impl Fn(Value<'d, 'a>) -> bool) -> Vec<Span> {
        let mut cuts: Vec<Span> = Vec::new();
        let mut kept_end = None;
        // The start of a run of members to cut at the beginning of the object.
        let mut leading = None;
        for (key, value) in self.0.members() {
            let (start, end) = (key.span().start, value.span().end);
            if !goes(key) {
                cuts.extend(leading.take().map(|leading| Span { start: leading, end: start }));
                kept_end = Some(end);
            } else if let Some(kept_end) = kept_end {
                match cuts.last_mut() {
                    Some(last) if last.start == kept_end => last.end = end,
                    _ => cuts.push(Span { start: kept_end, end }),
                }
            } else {
                leading.get_or_insert(start);
            }
        }
        // Nothing is kept: everything between the braces is cut.
        let end = self.tail().0;
        cuts.extend(leading.map(|leading| Span { start: leading, end }));
        cuts
    }

    /// The offset for a new last member, and whether there are members before it.
    pub(crate) fn tail(self) -> (u32, bool) {
        match self.0.members().last() {
            Some((_, value)) => (value.span().end, true),
            None => (self.0.span().start + 1, false),
        }
    }
}
