//! Patches of JSON objects, for every dialect.

use std::borrow::Cow;

use seamline_model::Span;

use crate::json::{Document, Kind, Value, quoted};

/// The input of a call that a repair rebuilt from its result. The model reads that the call is not its own.
pub(crate) const REBUILT_INPUT: &str = r#"{"synthetic":true,"reconstructed":true}"#;

/// The patch that gives a member of an object another value, or adds it.
pub(crate) fn set_member(object: Value<'_, '_>, key: &str, json: &str) -> Option<(Span, String)> {
    set_members(object, [(key, json.to_owned())]).pop()
}

/// The patches that give members of an object other values, or add them.
pub(crate) fn set_members<'k>(
    object: Value<'_, '_>,
    values: impl IntoIterator<Item = (&'k str, String)>,
) -> Vec<(Span, String)> {
    let Some(members) = object.object() else { return Vec::new() };
    let (at, follows) = members.tail();
    let (colon, comma) = layout(object);
    let mut patches = Vec::new();
    let mut added = String::new();
    for (key, json) in values {
        if let Some(old) = members.get(key) {
            patches.push((old.span(), json));
            continue;
        }
        if follows || !added.is_empty() {
            added.push_str(comma);
        }
        added.push_str(&["\"", key, "\"", colon, &json].concat());
    }
    if !added.is_empty() {
        patches.push((Span { start: at, end: at }, added));
    }
    patches
}

/// The patches that remove members of an object.
pub(crate) fn cuts(object: Value<'_, '_>, keys: &[&str]) -> Vec<(Span, String)> {
    let spans = object.object().map(|members| members.cut(keys)).unwrap_or_default();
    spans.into_iter().map(|span| (span, String::new())).collect()
}

/// The patch that puts a new first member into an object that has others.
pub(crate) fn leading_member(object: Value<'_, '_>, key: &str, json: &str) -> (Span, String) {
    let (colon, comma) = layout(object);
    let first = object.members().next().map_or(object.span().start + 1, |(key, _)| key.span().start);
    (Span { start: first, end: first }, ["\"", key, "\"", colon, json, comma].concat())
}

/// Finds the text between a key and its value, and between two members, of an object.
fn layout<'a>(object: Value<'_, 'a>) -> (&'a str, &'a str) {
    let mut members = object.members();
    let (Some((key, value)), second) = (members.next(), members.next()) else { return (":", ",") };
    let between = |from: Span, to: Span| object.slice(Span { start: from.end, end: to.start });
    let colon = between(key.span(), value.span());
    // A single member shows no comma. Writers with a space after a colon have one after a comma as well.
    let comma = if colon.ends_with(' ') { ", " } else { "," };
    (colon, second.map_or(comma, |(next, _)| between(value.span(), next.span())))
}

/// The number of strings around an input that are taken off. Some clients put input that is already text into a
/// string again.
const WRAPPED_MAX: usize = 4;

/// A call's input as an object that says the same: an object inside a string, or inside a
/// string in a string, is taken out, nothing becomes no arguments, anything else is wrapped.
pub(crate) fn input_object(input: Option<Value<'_, '_>>) -> String {
    let Some(input) = input else {
        return "{}".to_owned();
    };
    match input.kind() {
        Kind::Object => input.raw().to_owned(),
        Kind::Null => "{}".to_owned(),
        Kind::String => match input.str() {
            Some(text) if text.trim().is_empty() => "{}".to_owned(),
            Some(text) => object_inside(&text).unwrap_or_else(|| format!("{{\"raw\":{}}}", input.raw())),
            None => "{}".to_owned(),
        },
        Kind::Array | Kind::Number | Kind::True | Kind::False => {
            format!("{{\"value\":{}}}", input.raw())
        }
    }
}

/// The object that a text holds, however often it is wrapped in strings.
fn object_inside(text: &str) -> Option<String> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..WRAPPED_MAX {
        if is_object(&text) {
            return Some(text.into_owned());
        }
        let inner = Document::read(&text).ok()?.root().str()?.into_owned();
        text = Cow::Owned(inner);
    }
    None
}

/// A call's input as a string that holds JSON: an object is put into a string, nothing
/// becomes no arguments.
pub(crate) fn input_text(input: Option<Value<'_, '_>>) -> String {
    let json = match input {
        Some(input) if input.is(Kind::String) => return input.raw().to_owned(),
        Some(input) => input_object(Some(input)),
        None => "{}".to_owned(),
    };
    quoted(&json)
}

/// Writes the input as a string that always holds an object: other JSON is wrapped, and so is text that is not JSON.
pub(crate) fn input_json_text(input: Option<Value<'_, '_>>) -> String {
    let Some(text) = input.and_then(Value::str) else {
        return quoted(&input_object(input));
    };
    let document = Document::read(&text).ok();
    let json = match document.as_ref().map(|document| document.root()) {
        Some(held) if held.is(Kind::Object) => return input_text(input),
        Some(held) if !held.is(Kind::String) => input_object(Some(held)),
        _ => input_object(input),
    };
    quoted(&json)
}

/// The source of a content that is not a text, a list or `null`. Only its source can be kept.
pub(crate) fn unreadable_text(content: Value<'_, '_>) -> Option<String> {
    let readable = matches!(content.kind(), Kind::String | Kind::Array | Kind::Null);
    (!readable).then(|| content.raw().to_owned())
}

/// Whether a text is exactly one JSON value of this kind, so that it can be put into another text.
pub(crate) fn holds(text: &str, kind: Kind) -> bool {
    Document::read(text).is_ok_and(|document| document.root().is(kind) && document.byte_order_mark.is_none())
}

fn is_object(text: &str) -> bool {
    holds(text, Kind::Object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(json: &str, look: impl Fn(Option<Value<'_, '_>>) -> T) -> T {
        look(Some(Document::read(json).unwrap().root()))
    }

    #[test]
    fn an_object_is_taken_out_of_every_string_around_it() {
        let once = quoted(r#"{"path":"a"}"#);
        let twice = quoted(&once);
        let thrice = quoted(&twice);
        for json in [&once, &twice, &thrice] {
            assert_eq!(read(json, input_object), r#"{"path":"a"}"#);
            assert_eq!(read(json, input_json_text), once);
        }
        let words = quoted(&quoted("words"));
        assert_eq!(read(&words, input_object), format!("{{\"raw\":{words}}}"));
    }

    #[test]
    fn arguments_other_than_an_object_are_put_into_one() {
        for (held, expected) in [
            ("[1]", r#"{"value":[1]}"#),
            ("7", r#"{"value":7}"#),
            ("null", "{}"),
            ("ls", r#"{"raw":"ls"}"#),
            (" ", "{}"),
        ] {
            assert_eq!(read(&quoted(held), input_json_text), quoted(expected));
        }
    }
}
