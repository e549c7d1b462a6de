//! Frames that hold JSON, for the dialects whose streams consist of them.

use std::borrow::Cow;

use seamline_frame::{Frame, FrameKind};
use seamline_model::{Addition, Event, Unreadable};

use crate::json::{Alike, Document, Kind, Object, Syntax, Value, quoted};

/// Takes the events of a frame.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(Event<'_>);

/// The content of a frame.
pub(crate) enum Said<'f> {
    /// Nothing: the frame only keeps the connection open.
    Nothing,
    /// A failure of the request: the framing marks it as one, or the frame is named an error.
    Failure(Cow<'f, str>),
    /// The end of the stream, as gateways write it for every dialect.
    Done,
    /// A JSON document.
    Json(Document<'f>),
    /// Data that is not JSON.
    Broken,
}

/// Reads a frame. Most frames have the same form as the one before.
pub(crate) fn said<'f>(frame: &Frame<'f>, alike: &mut Alike) -> Said<'f> {
    if frame.kind == FrameKind::Exception {
        Said::Failure(Cow::Owned(exception(frame)))
    } else if [&b"error"[..], b"exception"].iter().any(|name| frame.name.eq_ignore_ascii_case(name)) {
        Said::Failure(String::from_utf8_lossy(frame.data.trim_ascii()))
    } else {
        match said_by(frame.data, |text| alike.read(text)) {
            Said::Json(document) if is_ping(frame, document.root()) => Said::Nothing,
            Said::Broken if is_idle(frame.name) && frame.kind != FrameKind::Cut => Said::Nothing,
            said => said,
        }
    }
}

/// Reads a frame that should hold JSON. Gives out a failure or unreadable data, and returns nothing then.
// A call copies the document, for every frame.
#[inline]
pub(crate) fn document<'f>(frame: &Frame<'f>, alike: &mut Alike, sink: Sink<'_>) -> Option<Document<'f>> {
    match said(frame, alike) {
        Said::Json(document) => return Some(document),
        Said::Failure(said) => sink(Event::Failed { said: &said }),
        Said::Broken => unreadable(sink, Unreadable::NotJson),
        Said::Nothing | Said::Done => {}
    }
    None
}

/// The largest size of a frame that only keeps the connection open.
const IDLE_BYTES_MAX: usize = 64;

/// Whether a frame or an event of this name only keeps a connection open.
fn is_idle(name: &[u8]) -> bool {
    [&b"ping"[..], b"keepalive", b"keep-alive", b"heartbeat"].contains(&name)
}

/// Whether a frame only keeps the connection open. Gateways write such frames into any stream.
pub(crate) fn is_ping(frame: &Frame<'_>, event: Value<'_, '_>) -> bool {
    if frame.data.len() > IDLE_BYTES_MAX {
        return false;
    }
    let Some(event) = event.object() else { return is_idle(frame.name) };
    let is_named = |kind: Value<'_, '_>| is_idle(kind.raw_str().as_bytes());
    (is_idle(frame.name) || event.get("type").is_some_and(is_named)) && !event.get("error").is_some_and(is_told)
}

/// Whether a frame was cut off and holds no data.
pub(crate) fn is_remnant(frame: &Frame<'_>) -> bool {
    frame.kind == FrameKind::Cut && frame.data.trim_ascii().is_empty()
}

/// Reads the data of a frame.
pub(crate) fn said_in(data: &[u8]) -> Said<'_> {
    said_by(data, Document::read)
}

fn said_by<'f>(data: &'f [u8], read: impl FnOnce(&'f str) -> Result<Document<'f>, Syntax>) -> Said<'f> {
    match data.trim_ascii() {
        b"" => Said::Nothing,
        b"[DONE]" => Said::Done,
        data => {
            let document = std::str::from_utf8(data).ok().and_then(|text| read(text).ok());
            document.map_or(Said::Broken, Said::Json)
        }
    }
}

/// Writes an exception of the framing as an object under its name.
pub(crate) fn exception(frame: &Frame<'_>) -> String {
    let name = quoted(&String::from_utf8_lossy(frame.name));
    let what = match said_in(frame.data) {
        Said::Json(document) => document.root().raw().to_owned(),
        Said::Nothing => "{}".to_owned(),
        Said::Done | Said::Failure(_) | Said::Broken => quoted(&String::from_utf8_lossy(frame.data)),
    };
    ["{", &name, ":", &what, "}"].concat()
}

/// Takes a value that is not an event of the dialect: an error of a gateway, or something unreadable.
pub(crate) fn foreign(value: Value<'_, '_>, sink: Sink<'_>) {
    match foreign_error(value) {
        Some(said) => sink(Event::Failed { said }),
        None => unreadable(sink, Unreadable::Shape),
    }
}

/// Finds the error in a value that is not an event, in the forms that gateways use: an error in a list, or members
/// that no event has.
fn foreign_error<'a>(value: Value<'_, 'a>) -> Option<&'a str> {
    let inner = if value.is(Kind::Array) { value.elements().next()? } else { value };
    let object = inner.object()?;
    let says = |name: &str| object.get(name).is_some_and(is_told);
    let has_code = |name: &str| object.get(name).is_some_and(|code| is_told(code) && index(code) != Some(0));
    let is_error = value.is(Kind::Array) && says("error")
        || ["error_msg", "error_message", "errorMessage", "fault"].iter().any(|name| says(name))
        || has_code("error_code")
        || has_code("errorCode")
        || object.get("success").is_some_and(|success| success.is(Kind::False))
        || object.get("status").and_then(number).is_some_and(is_failed_status)
        || object.get("code").and_then(index).is_some_and(is_failed_status) && (says("msg") || says("message"));
    is_error.then(|| inner.raw())
}

/// Whether a number is the status of a request that failed.
fn is_failed_status(status: u64) -> bool {
    (400..600).contains(&status)
}

/// Adds to a block.
pub(crate) fn add(sink: Sink<'_>, place: u32, addition: Addition<'_>) {
    sink(Event::Add { place, addition });
}

/// Adds a piece of a text to a block, or all of it. Servers cut texts between the two halves of a surrogate pair, so
/// halves at either end are added on their own.
pub(crate) fn add_text(sink: Sink<'_>, place: u32, text: Value<'_, '_>, is_whole: bool) {
    if is_whole {
        return add(sink, place, Addition::WholeText(&text.str().unwrap_or_default()));
    }
    let (start, said, end) = text.halved();
    add_half(sink, place, start);
    if !said.is_empty() || start.or(end).is_none() {
        add(sink, place, Addition::Text(&said));
    }
    add_half(sink, place, end);
}

/// Adds a piece of the input to a call, or all of it, in the same way.
pub(crate) fn add_arguments(sink: Sink<'_>, place: u32, text: Value<'_, '_>, is_whole: bool) {
    if is_whole {
        return add(sink, place, Addition::WholeArguments(&text.str().unwrap_or_default()));
    }
    let (start, said, end) = text.halved();
    add_half(sink, place, start);
    if !said.is_empty() || start.or(end).is_none() {
        add(sink, place, Addition::Arguments(&said));
    }
    add_half(sink, place, end);
}

fn add_half(sink: Sink<'_>, place: u32, unit: Option<u16>) {
    if let Some(unit) = unit {
        add(sink, place, Addition::Half(unit));
    }
}

/// Gives out the token usage.
pub(crate) fn usage(usage: Option<Value<'_, '_>>, sink: Sink<'_>) {
    for (key, value) in usage.into_iter().flat_map(Value::members) {
        sink(Event::Usage { name: &key.name(), json: value.raw() });
    }
}

/// Notes something unreadable.
pub(crate) fn unreadable(sink: Sink<'_>, what: Unreadable) {
    sink(Event::Unreadable { what });
}

/// Reads a whole number.
pub(crate) fn number(value: Value<'_, '_>) -> Option<u64> {
    if value.is(Kind::Number) { value.raw().parse().ok() } else { None }
}

/// Reads an index. Some servers write it as text or with a fraction of zero.
pub(crate) fn index(value: Value<'_, '_>) -> Option<u64> {
    let text = if value.is(Kind::Number) { Cow::Borrowed(value.raw()) } else { value.str()? };
    // Nearly every one has one digit.
    if let [digit @ b'0'..=b'9'] = text.as_bytes() {
        return Some(u64::from(digit - b'0'));
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    let is_index = whole.bytes().all(|byte| byte.is_ascii_digit()) && fraction.bytes().all(|byte| byte == b'0');
    if is_index { whole.parse().ok() } else { None }
}

/// Reads a string, unless it is empty.
pub(crate) fn words<'a>(value: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    value.str().filter(|text| !text.is_empty())
}

/// Reads a string member of an object, unless it is empty.
pub(crate) fn words_of<'a>(object: Object<'_, 'a>, name: &str) -> Option<Cow<'a, str>> {
    object.get(name).and_then(words)
}

/// Whether a value is neither null, `false` nor empty.
pub(crate) fn is_told(value: Value<'_, '_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::False => false,
        Kind::String => !value.raw_str().is_empty(),
        Kind::Object => value.members().next().is_some(),
        Kind::Array => value.elements().next().is_some(),
        Kind::Number | Kind::True => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_however_it_is_written() {
        for (json, place) in [
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("\"7\"", Some(7)),
            ("\"1.00\"", Some(1)),
            ("-1", None),
            ("1.5", None),
            ("1e3", None),
            ("\"\"", None),
            ("\"+1\"", None),
            ("18446744073709551616", None),
            ("[0]", None),
        ] {
            assert_eq!(index(Document::read(json).unwrap().root()), place, "{json}");
        }
    }
}
