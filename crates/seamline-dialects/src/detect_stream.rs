//! Detection of the dialect of a streamed response.

use seamline_frame::{Frame, FrameKind};

use crate::frames::is_ping;
use crate::json::{Document, Object, Value};
use crate::{ALL, Dialect};

/// The evidence of one frame of a streamed response about its dialect.
#[derive(Clone, Copy)]
pub enum StreamSign {
    /// Only this dialect has such a frame.
    Certain(&'static Dialect),
    /// Several dialects have such a frame; this one is the most likely.
    Likely(&'static Dialect),
    /// It only keeps the connection open, and this dialect sends it most often.
    Idle(&'static Dialect),
}

/// The signs by which one dialect recognises a frame of a streamed response.
pub(crate) struct StreamSigns {
    /// Whether only this dialect has events of this name. Frames give it as their name or as their `type`.
    pub(crate) has_event: fn(&str) -> bool,
    /// Reads the evidence of an object of this `type`, where the type is not the name of an event.
    pub(crate) typed: fn(&str, Object<'_, '_>) -> Typed,
    /// Whether an object has members that only this dialect has.
    pub(crate) has_members: fn(Object<'_, '_>) -> bool,
    /// Whether an object is an error as this dialect writes it.
    pub(crate) is_error: fn(Object<'_, '_>) -> bool,
    /// Whether exceptions of an AWS event stream usually belong to this dialect.
    pub(crate) has_exceptions: bool,
    /// Whether frames that only keep the connection open usually belong to this dialect.
    pub(crate) has_pings: bool,
}

/// The evidence of the `type` of an object about its dialect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Only this dialect has such an event.
    Certain,
    /// Several dialects have such an event; this one is the most likely.
    Likely,
    /// The type does not identify a dialect.
    Unknown,
}

/// Finds what a frame of a streamed response says about its dialect. Returns nothing when every dialect, or none, may
/// have it. A response that came in one piece is recognised as well.
pub fn detect_stream(frame: &Frame<'_>) -> Option<StreamSign> {
    let name = std::str::from_utf8(frame.name).unwrap_or_default();
    if let Some(dialect) = find(|signs| (signs.has_event)(name)) {
        return Some(StreamSign::Certain(dialect));
    }
    if frame.kind == FrameKind::Exception {
        return find(|signs| signs.has_exceptions).map(StreamSign::Likely);
    }
    let text = std::str::from_utf8(frame.data).ok()?;
    let document = Document::read(text).ok()?;
    if is_ping(frame, document.root()) {
        return find(|signs| signs.has_pings).map(StreamSign::Idle);
    }
    let object = document.root().object()?;
    by_type(object).or_else(|| by_members(object)).or_else(|| by_error(object))
}

/// Finds the most widely used dialect that fits.
fn find(fits: impl Fn(&StreamSigns) -> bool) -> Option<&'static Dialect> {
    let fitting = ALL.iter().copied().filter(|dialect| fits(dialect.stream_signs));
    fitting.min_by_key(|dialect| dialect.body_signs.precedence)
}

fn by_type(object: Object<'_, '_>) -> Option<StreamSign> {
    let kind = object.get("type").map_or("", Value::raw_str);
    let says = |typed| find(|signs| (signs.typed)(kind, object) == typed);
    let certain = says(Typed::Certain).map(StreamSign::Certain);
    let likely = || says(Typed::Likely).map(StreamSign::Likely);
    certain.or_else(likely).or_else(|| find(|signs| (signs.has_event)(kind)).map(StreamSign::Certain))
}

fn by_members(object: Object<'_, '_>) -> Option<StreamSign> {
    find(|signs| (signs.has_members)(object)).map(StreamSign::Certain)
}

/// Looks at an error that came alone. Several dialects write errors alike, so the most widely used one, which takes
/// any error, is asked last.
fn by_error(object: Object<'_, '_>) -> Option<StreamSign> {
    let fitting = ALL.iter().copied().filter(|dialect| (dialect.stream_signs.is_error)(object));
    fitting.max_by_key(|dialect| dialect.body_signs.precedence).map(StreamSign::Likely)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(name: &str, data: &str) -> String {
        let frame = Frame { kind: FrameKind::Event, name: name.as_bytes(), data: data.as_bytes() };
        match detect_stream(&frame) {
            Some(StreamSign::Certain(dialect)) => dialect.name().to_owned(),
            Some(StreamSign::Likely(dialect)) => format!("{}?", dialect.name()),
            Some(StreamSign::Idle(dialect)) => format!("{}…", dialect.name()),
            None => String::new(),
        }
    }

    #[test]
    fn a_frame_that_only_one_dialect_has_is_known() {
        for (name, data, dialect) in [
            ("message_start", "{", "anthropic_messages"),
            ("", r#"{"type":"message_start","message":{}}"#, "anthropic_messages"),
            ("", r#"{"type":"error","error":{"type":"overloaded_error"}}"#, "anthropic_messages?"),
            ("ping", r#"{"type":"ping"}"#, "anthropic_messages…"),
            ("", r#"{"type":"error","code":"x","message":"no","sequence_number":1}"#, "openai_responses?"),
            ("", r#"{"type":"response.created","response":{}}"#, "openai_responses"),
            ("", r#"{"id":"c","choices":[]}"#, "openai_chat"),
            ("", r#"{"candidates":[]}"#, "gemini_generate"),
            ("", r#"{"error":{"code":503,"message":"no","status":"UNAVAILABLE"}}"#, "gemini_generate?"),
            ("contentBlockDelta", "{}", "bedrock_converse"),
            ("", r#"{"messageStart":{"role":"assistant"}}"#, "bedrock_converse"),
            ("", r#"{"error":{"message":"no"}}"#, "openai_chat?"),
            ("", r#"{"object":"error","message":"no"}"#, "openai_chat?"),
            ("", r#"{"message":"no"}"#, "bedrock_converse?"),
            ("", "[DONE]", ""),
            ("", r#"{"type":"message-start","delta":{}}"#, "openai_chat"),
            ("", r#"{"model":"m","message":{"role":"assistant","content":"hi"},"done":false}"#, "openai_chat"),
            ("chunk", r#"{"bytes":"e30="}"#, "anthropic_messages"),
            ("", "<html>", ""),
        ] {
            assert_eq!(sign(name, data), dialect, "{name} {data}");
        }
    }
}
