//! What the dialects share when writing.

use seamline_model::Span;

use crate::json::{Document, Kind, Value, escape_into};

/// The patch that gives a member of an object another value, or adds it.
pub(crate) fn set_member(object: Value<'_, '_>, key: &str, json: &str) -> Option<(Span, String)> {
    let members = object.object()?;
    if let Some(old) = members.get(key) {
        return Some((old.span(), json.to_owned()));
    }
    let (at, follows) = members.tail();
    let comma = if follows { "," } else { "" };
    Some((Span { start: at, end: at }, format!("{comma}\"{key}\":{json}")))
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
    let mut out = String::from("\"");
    escape_into(&mut out, &json);
    out.push('"');
    out
}

fn is_object(text: &str) -> bool {
    Document::read(text).is_ok_and(|document| document.root().is(Kind::Object))
}
