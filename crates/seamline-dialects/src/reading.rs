//! What the dialects share when reading: what a single value says.

use std::borrow::Cow;

use seamline_model::{Emptiness, Input, Parts};

use crate::json::{Kind, Value};

/// Texts longer than this are never taken for what a repair made up.
const SYNTHETIC_BYTES_MAX: usize = 512;

/// How much text a string holds.
pub(crate) fn emptiness(value: Value<'_, '_>) -> Emptiness {
    let raw = value.raw_str();
    if raw.is_empty() {
        return Emptiness::Empty;
    }
    match raw.trim_start().as_bytes().first() {
        None => Emptiness::Blank,
        // It starts with an escape, which may be white space too.
        Some(b'\\') => match value.str() {
            Some(text) if text.trim().is_empty() => Emptiness::Blank,
            _ => Emptiness::Present,
        },
        Some(_) => Emptiness::Present,
    }
}

/// The text of a part, if it is a text part.
pub(crate) fn part_text<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let part = part.object()?;
    part.get("type").filter(|kind| kind.says("text"))?;
    part.get("text").filter(|text| text.is(Kind::String))
}

/// How a dialect finds the text of a part, if it is a text part.
pub(crate) type TextOf = for<'d, 'a> fn(Value<'d, 'a>) -> Option<Value<'d, 'a>>;

/// What a result's content holds.
pub(crate) fn parts(content: Value<'_, '_>) -> Parts {
    parts_by(content, part_text)
}

/// The same, where text parts are recognised otherwise.
pub(crate) fn parts_by(content: Value<'_, '_>, text_of: TextOf) -> Parts {
    match content.kind() {
        Kind::String => Parts::Text(emptiness(content)),
        Kind::Null => Parts::Missing,
        Kind::Array => {
            let (mut empty_text, mut media, mut blank) = (false, false, true);
            for part in content.elements() {
                match text_of(part) {
                    Some(text) if emptiness(text) != Emptiness::Present => empty_text = true,
                    Some(_) => blank = false,
                    None => (media, blank) = (true, false),
                }
            }
            Parts::List { empty_text, media, blank }
        }
        _ => Parts::Unreadable,
    }
}

/// What a content says, when it is a string or a single text part and short: what a
/// repair makes up is never long.
pub(crate) fn only_text<'a>(content: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    only_text_by(content, part_text)
}

/// The same, where text parts are recognised otherwise.
pub(crate) fn only_text_by<'a>(content: Value<'_, 'a>, text_of: TextOf) -> Option<Cow<'a, str>> {
    let text = match content.kind() {
        Kind::String => content,
        Kind::Array => {
            let mut elements = content.elements();
            let first = elements.next().filter(|_| elements.next().is_none())?;
            text_of(first)?
        }
        _ => return None,
    };
    short(text)
}

/// What a string says, unless it is too long to be made up by a repair.
pub(crate) fn short<'a>(text: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    if text.raw_str().len() > SYNTHETIC_BYTES_MAX { None } else { text.str() }
}

/// Whether a block type is something to look at or listen to.
pub(crate) fn is_media_type(kind: &str) -> bool {
    matches!(
        kind,
        "image"
            | "document"
            | "image_url"
            | "input_audio"
            | "audio"
            | "file"
            | "video"
            | "video_url"
            | "search_result"
            | "container_upload"
    )
}

/// How a call's input is written.
pub(crate) fn input(value: Option<Value<'_, '_>>) -> Input {
    match value.map(Value::kind) {
        Some(Kind::Object) => Input::Object,
        Some(Kind::String) => Input::Text,
        Some(Kind::Null) => Input::Null,
        Some(_) => Input::Other,
        None => Input::Missing,
    }
}

/// What stands where a readable message should.
pub(crate) fn unreadable(message: Value<'_, '_>, role: Option<Value<'_, '_>>) -> &'static str {
    match (message.kind(), role) {
        (Kind::Object, Some(_)) => "an unknown role",
        (Kind::Object, None) => "no role",
        (other, _) => other.as_str(),
    }
}
