//! Recognises the shape of a history by all its entries.

use super::shape::Shape;
use super::{ALL, by_name};
use crate::json::{Object, elements, offset};

/// Words of which each history of a shape has at least one. Other texts need not be read.
const HINTS: &[&str] = &["\"call_id\"", "\"callId\"", "\"toolCall\"", "\"toolCallId\"", "\"speaker\""];

/// The members that may hold the list of a history.
const LISTS: &[&str] = &["messages", "history"];

/// The shape of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recognised {
    /// A history of this shape.
    Shape(&'static Shape),
    /// Most entries have this shape, and others belong to a request body or another program.
    Split {
        /// The shape of most entries.
        shape: &'static Shape,
        /// The signs of the shape, in words.
        signs: String,
        /// The signs of something else, in words.
        others: String,
    },
}

/// Recognises the history of a program by its tool calls, its tool results and its entries. A request body is not a history, and
/// neither is a history without them: it reads the same as a body.
///
/// ```
/// use seamline_files::native::{Recognised, recognise};
///
/// let history = r#"[{"role":"tool_result","call_id":"c1","content":"ok"}]"#;
/// assert!(matches!(recognise(history), Some(Recognised::Shape(shape)) if shape.program == "Opal"));
///
/// let body = r#"{"messages":[{"role":"tool","tool_call_id":"c1","content":"ok"}]}"#;
/// assert_eq!(recognise(body), None);
/// ```
pub fn recognise(text: &str) -> Option<Recognised> {
    if !HINTS.iter().any(|hint| text.contains(hint)) {
        return None;
    }
    let list = List::of(text)?;
    let mut tallies: Vec<Tally> = ALL.iter().map(|_| Tally::default()).collect();
    let mut others = Tally::default();
    for entry in list.entries.iter().filter_map(|entry| Object::of(entry)) {
        for (shape, tally) in ALL.iter().zip(&mut tallies) {
            tally.add((shape.sign)(&entry));
        }
        others.add(foreign_sign(&entry));
    }
    let best = (0..tallies.len()).rev().max_by_key(|index| tallies[*index].count)?;
    for index in (0..tallies.len()).filter(|index| *index != best) {
        others.count += tallies[index].count;
        others.words.append(&mut tallies[index].words);
    }
    let (shape, own) = (ALL[best], &tallies[best]);
    match (own.count, others.count) {
        (0, _) => None,
        (_, 0) => Some(Recognised::Shape(shape)),
        // A body with a few entries of another shape is a damaged body.
        (own, others) if own <= others => None,
        _ => Some(Recognised::Split { shape: by_name(shape.name)?, signs: own.in_words(), others: others.in_words() }),
    }
}

#[derive(Default)]
struct Tally {
    count: usize,
    words: Vec<&'static str>,
}

impl Tally {
    fn add(&mut self, sign: Option<&'static str>) {
        let Some(sign) = sign else { return };
        self.count += 1;
        if !self.words.contains(&sign) {
            self.words.push(sign);
        }
    }

    fn in_words(&self) -> String {
        format!("{} ({} entries)", self.words.join(", "), self.count)
    }
}

/// The sign of a dialect in an entry: how it makes calls and answers them.
fn foreign_sign(entry: &Object<'_>) -> Option<&'static str> {
    const PAIRED: &[&str] = &["tool_use", "tool_result", "tool-call", "tool-result"];
    let has_function = |call: &str| Object::of(call).is_some_and(|call| call.get("function").is_some());
    let is_paired = |block: &str| Object::of(block).is_some_and(|block| block.says("type", PAIRED));
    let is_keyed =
        |block: &str| Object::of(block).is_some_and(|block| block.first(&["toolUse", "toolResult"]).is_some());
    match () {
        () if entry.says("role", &["tool", "function"]) => Some("the role `tool`"),
        () if entry.list("tool_calls").into_iter().any(has_function) => Some("tool calls with `function`"),
        () if entry.list("content").into_iter().any(is_paired) => Some("blocks of type `tool_use` or `tool_result`"),
        () if entry.list("content").into_iter().any(is_keyed) => Some("blocks with `toolUse` or `toolResult`"),
        () if entry.get("role").is_some() && !entry.list("parts").is_empty() => Some("entries with `parts`"),
        () if entry.says("type", &["function_call", "function_call_output"]) => Some("items of type `function_call`"),
        () => None,
    }
}

/// The list of entries in a text.
pub(crate) struct List<'t> {
    /// The JSON pointer to the list.
    pub(crate) pointer: String,
    pub(crate) entries: Vec<&'t str>,
    /// The bytes between the brackets.
    pub(crate) inner: std::ops::Range<usize>,
}

impl<'t> List<'t> {
    /// Finds the list: the text itself, or its `messages` or `history`.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let trimmed = text.trim_start_matches('\u{feff}').trim();
        let found = if trimmed.starts_with('[') {
            Some((String::new(), trimmed))
        } else {
            let root = Object::of(trimmed)?;
            let lists = LISTS.iter().filter_map(|name| Some((format!("/{name}"), root.get(name)?)));
            lists.into_iter().find(|(_, list)| list.starts_with('['))
        };
        let (pointer, list) = found?;
        let start = offset(text, list);
        Some(Self { pointer, entries: elements(list)?, inner: start + 1..start + list.len() - 1 })
    }
}
