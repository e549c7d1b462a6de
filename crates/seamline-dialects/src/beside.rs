//! Members of a block that a repair does not show when it keeps the block as text or removes it.
//!
//! There is one rule for all dialects: content that stays nowhere else becomes a line of the text between the marks. Known
//! names and ids are in the heading of that text, so they are not repeated, unless they are not even texts.

use std::borrow::Cow;

use seamline_model::{Span, is_metadata};

use crate::json::{Kind, Value};
use crate::members::is_hollow;

/// Members that are never content, whatever they hold.
fn is_mark(key: &str) -> bool {
    matches!(key, "cache_control" | "cachePoint" | "signature" | "thoughtSignature" | "thought_signature" | "thought")
}

/// Writes the members of a value that are not shown, a line each. `shown` are the spans of the values that the text shows,
/// in their order; a member that holds one of them is looked into. `known` members are left out unless they are lists or
/// objects.
pub(crate) fn beside(value: Value<'_, '_>, shown: &[Span], known: &dyn Fn(&str) -> bool) -> String {
    let mut lines = String::new();
    // The depth is that of the shown values, which the dialect knows.
    add_lines(value, shown, known, &mut lines);
    lines
}

fn add_lines(value: Value<'_, '_>, shown: &[Span], known: &dyn Fn(&str) -> bool, lines: &mut String) {
    for element in value.elements() {
        match place_of(element, shown) {
            Place::Shown => {}
            Place::Above => add_lines(element, shown, known, lines),
            Place::Beside if is_hollow(element) || is_silent(element) => {}
            Place::Beside => lines.push_str(&["\n", &words(element)].concat()),
        }
    }
    for (key, member) in value.members() {
        let name = key.name();
        match place_of(member, shown) {
            Place::Shown => {}
            Place::Above => add_lines(member, shown, known, lines),
            Place::Beside if member.is(Kind::Null) || is_mark(&name) => {}
            Place::Beside if known(&name) && !is_compound(member) => {}
            Place::Beside => lines.push_str(&["\n", &name, ": ", &words(member)].concat()),
        }
    }
}

/// Whether a block whose text is empty has members with content.
pub(crate) fn has_more(block: Value<'_, '_>) -> bool {
    block.members().any(|(key, member)| {
        let name = key.name();
        !matches!(&*name, "text") && !is_mark(&name) && !is_metadata(&name) && !is_hollow(member)
    })
}

/// Whether an object holds only metadata and empty members, such as an empty text.
fn is_silent(object: Value<'_, '_>) -> bool {
    let is_empty = |key: &str, member| is_mark(key) || is_metadata(key) || is_hollow(member);
    object.is(Kind::Object) && object.members().all(|(key, member)| is_empty(&key.name(), member))
}

/// A place inside a value, so that [`beside`] looks into the value even if nothing of it is shown.
pub(crate) fn inside(value: Value<'_, '_>) -> Span {
    let start = value.span().start + 1;
    Span { start, end: start }
}

/// Whether a value is a list or an object.
pub(crate) fn is_compound(value: Value<'_, '_>) -> bool {
    value.is(Kind::Object) || value.is(Kind::Array)
}

/// The text of a string, or the source of any other value.
pub(crate) fn words<'a>(member: Value<'_, 'a>) -> Cow<'a, str> {
    member.str().unwrap_or(Cow::Borrowed(member.raw()))
}

enum Place {
    Shown,
    /// It holds something that is shown.
    Above,
    Beside,
}

fn place_of(value: Value<'_, '_>, shown: &[Span]) -> Place {
    let span = value.span();
    let first = shown.partition_point(|shown| shown.start < span.start);
    match shown.get(first) {
        Some(&found) if found == span => Place::Shown,
        Some(found) if found.end <= span.end => Place::Above,
        _ => Place::Beside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn members_around_and_beside_the_shown_values_are_lines() {
        let source =
            r#"{"type":"x","a":{"text":"shown","name":"f","note":{"k":1}},"name":{"n":1},"list":[{"text":"also"},7]}"#;
        let document = Document::read(source).unwrap();
        let root = document.root();
        let text = |key: &str| root.object().unwrap().get(key).unwrap();
        let shown = [text("a").object().unwrap().get("text").unwrap().span()];
        let known = |key: &str| matches!(key, "type" | "name");
        assert_eq!(beside(root, &shown, &known), "\nnote: {\"k\":1}\nname: {\"n\":1}\nlist: [{\"text\":\"also\"},7]");
        let also = text("list").elements().next().unwrap().span();
        assert_eq!(beside(text("list"), &[also], &known), "\n7");
    }
}
