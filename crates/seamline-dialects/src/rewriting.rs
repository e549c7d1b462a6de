//! What the dialects share when writing.

use std::borrow::Cow;

use seamline_model::Span;

use crate::json::{Document, Kind, Value, quoted};

/// The patch that gives a member of an object another value, or adds it.
pub(crate) fn set_member(object: Value<'_, '_>, key: &str, json: &str) -> Option<(Span, String)> {
    set_members(object, &[(key, json.to_owned())]).pop()
}

/// The patches that give members of an object other values, or add them.
pub(crate) fn set_members(object: Value<'_, '_>, values: &[(&str, String)]) -> Vec<(Span, String)> {
    let Some(members) = object.object() else { return Vec::new() };
    let (at, follows) = members.tail();
    let (colon, comma) = layout(object);
    let mut patches = Vec::new();
    let mut added = String::new();
    for (key, json) in values {
        if let Some(old) = members.get(key) {
            patches.push((old.span(), json.clone()));
            continue;
        }
        if follows || !added.is_empty() {
            added.push_str(comma);
        }
        added.push_str(&["\"", key, "\"", colon, json].concat());
    }
    if !added.is_empty() {
        patches.push((Span { start: at, end: at }, added));
    }
    patches
}

/// The patch that puts a new first member into an object that has others.
pub(crate) fn leading_member(object: Value<'_, '_>, key: &str, json: &str) -> (Span, String) {
    let (colon, comma) = layout(object);
    let first = object.members().next().map_or(object.span().start + 1, |(key, _)| key.span().start);
    (Span { start: first, end: first }, ["\"", key, "\"", colon, json, comma].concat())
}

/// What stands between a key and its value, and between two members, in an object.
fn layout<'a>(object: Value<'_, 'a>) -> (&'a str, &'a str) {
    let mut members = object.members();
    let (Some((key, value)), second) = (members.next(), members.next()) else { return (":", ",") };
    let between = |from: Span, to: Span| object.slice(Span { start: from.end, end: to.start });
    let colon = between(key.span(), value.span());
    // A single member shows no comma; who leaves room after a colon does so after a comma.
    let comma = if colon.ends_with(' ') { ", " } else { "," };
    (colon, second.map_or(comma, |(next, _)| between(value.span(), next.span())))
}

/// A call's input as an object that says the same: an object inside a string is taken
/// out, nothing becomes no arguments, anything else is wrapped.
pub(crate) fn input_object(input: Option<Value<'_, '_>>) -> String {
    let Some(input) = input else {
        return "{}".to_owned();
    };
    match input.kind() {
        Kind::Object => input.raw().to_owned(),
        Kind::Null => "{}".to_owned(),
        Kind::String => match input.str() {
            Some(text) if text.trim().is_empty() => "{}".to_owned(),
            Some(text) if is_object(&text) => text.into_owned(),
            _ => format!("{{\"raw\":{}}}", input.raw()),
        },
        Kind::Array | Kind::Number | Kind::True | Kind::False => {
            format!("{{\"value\":{}}}", input.raw())
        }
    }
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

/// The same, where text that is no JSON is wrapped, and text with nothing in it becomes no
/// arguments.
pub(crate) fn input_json_text(input: Option<Value<'_, '_>>) -> String {
    match input.and_then(Value::str) {
        Some(text) if !text.trim().is_empty() && Document::read(&text).is_ok() => input_text(input),
        _ => quoted(&input_object(input)),
    }
}

/// The members of an object that are not `known`, a line each.
pub(crate) fn members_as_lines(object: Value<'_, '_>, known: impl Fn(&str) -> bool) -> String {
    let mut lines = String::new();
    for (key, value) in object.members() {
        let name = key.name();
        if !known(&name) && !value.is(Kind::Null) {
            lines.push_str(&["\n", &name, ": ", &value.str().unwrap_or(Cow::Borrowed(value.raw()))].concat());
        }
    }
    lines
}

/// The source of a content that is neither text nor a list nor `null`, which is all that
/// can be kept of it.
pub(crate) fn unreadable_text(content: Value<'_, '_>) -> Option<String> {
    let readable = matches!(content.kind(), Kind::String | Kind::Array | Kind::Null);
    (!readable).then(|| content.raw().to_owned())
}

/// Whether a text is a JSON value of this kind and nothing else, so that it can stand in
/// another text.
pub(crate) fn holds(text: &str, kind: Kind) -> bool {
    Document::read(text).is_ok_and(|document| document.root().is(kind) && document.byte_order_mark.is_none())
}

fn is_object(text: &str) -> bool {
    holds(text, Kind::Object)
}
