//! Which dialect a streamed answer is written in.

use seamline_frame::{Frame, FrameKind};

use crate::Dialect;
use crate::anthropic_messages::AnthropicMessages;
use crate::bedrock_converse::BedrockConverse;
use crate::frames::is_ping;
use crate::gemini_generate::GeminiGenerate;
use crate::json::{Document, Kind, Object, Value};
use crate::openai_chat::OpenAiChat;
use crate::openai_responses::OpenAiResponses;

/// What one frame of a streamed answer says about its dialect.
#[derive(Clone, Copy)]
pub enum StreamSign {
    /// Only this dialect has such a frame.
    Certain(&'static dyn Dialect),
    /// Several have it, this one most often.
    Likely(&'static dyn Dialect),
    /// It only keeps the connection open, as this dialect does most often.
    Idle(&'static dyn Dialect),
}

/// What a frame of a streamed answer says about its dialect; nothing when every dialect, or
/// none, may have it. An answer that came in one piece is told as well.
pub fn detect_stream(frame: &Frame<'_>) -> Option<StreamSign> {
    let name = std::str::from_utf8(frame.name).unwrap_or_default();
    if let Some(dialect) = by_name(name) {
        return Some(StreamSign::Certain(dialect));
    }
    if frame.kind == FrameKind::Exception {
        // Only an AWS event stream has them, in which other models may speak.
        return Some(StreamSign::Likely(&BedrockConverse));
    }
    let text = std::str::from_utf8(frame.data).ok()?;
    let document = Document::read(text).ok()?;
    if is_ping(frame, document.root()) {
        return Some(StreamSign::Idle(&AnthropicMessages));
    }
    let object = document.root().object()?;
    by_type(object).or_else(|| by_members(object)).or_else(|| by_error(object))
}

/// By what the framing calls a frame.
fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    match name {
        "message_start"
        | "message_delta"
        | "message_stop"
        | "content_block_start"
        | "content_block_delta"
        | "content_block_stop" => Some(&AnthropicMessages),
        "messageStart" | "messageStop" | "contentBlockStart" | "contentBlockDelta" | "contentBlockStop" => {
            Some(&BedrockConverse)
        }
        // Cohere's own events, which the reader of Chat Completions knows as well.
        "message-start" | "message-end" | "content-start" | "content-delta" | "content-end" | "tool-plan-delta"
        | "tool-call-start" | "tool-call-delta" | "tool-call-end" => Some(&OpenAiChat),
        name if name.starts_with("response.") => Some(&OpenAiResponses),
        _ => None,
    }
}

/// By the type that the frame says it has.
fn by_type(object: Object<'_, '_>) -> Option<StreamSign> {
    let kind = object.get("type").map_or("", Value::raw_str);
    let has = |name| object.get(name).is_some();
    match kind {
        // Both call their errors so, and gateways pass them on into any stream.
        "error" if has("sequence_number") || has("message") => Some(StreamSign::Likely(&OpenAiResponses)),
        "error" if has("error") => Some(StreamSign::Likely(&AnthropicMessages)),
        "message" if has("content") => Some(StreamSign::Certain(&AnthropicMessages)),
        kind => by_name(kind).map(StreamSign::Certain),
    }
}

/// By members that only one dialect has.
fn by_members(object: Object<'_, '_>) -> Option<StreamSign> {
    let has = |name| object.get(name).is_some();
    let inner = |name| object.get(name).and_then(Value::object);
    let is_gemini = has("candidates")
        || has("promptFeedback")
        || has("usageMetadata")
        // A gateway of the same provider puts the answer into another object.
        || inner("response").is_some_and(|response| response.get("candidates").is_some());
    let is_bedrock = ["messageStart", "messageStop", "contentBlockStart", "contentBlockDelta", "contentBlockStop"]
        .into_iter()
        .any(|name| inner(name).is_some())
        || inner("output").is_some() && has("stopReason");
    let is_chat = object.get("choices").is_some_and(|choices| choices.is(Kind::Array))
        // Answers of Ollama's own interface, and of Cohere's.
        || inner("message").is_some() && (has("done") || has("finish_reason"));
    let dialect: &'static dyn Dialect = match () {
        () if is_chat => &OpenAiChat,
        () if is_gemini => &GeminiGenerate,
        () if is_bedrock => &BedrockConverse,
        // Bedrock wraps the events of its models.
        () if object.get("bytes").is_some_and(|bytes| bytes.is(Kind::String)) => &AnthropicMessages,
        () if object.get("object").is_some_and(|object| object.says("response")) => &OpenAiResponses,
        () => return None,
    };
    Some(StreamSign::Certain(dialect))
}

/// By an error that stands alone, which several dialects write alike.
fn by_error(object: Object<'_, '_>) -> Option<StreamSign> {
    let has = |name| object.get(name).is_some();
    let Some(error) = object.get("error") else {
        let is_text = object.get("message").is_some_and(|message| message.is(Kind::String));
        return match () {
            () if has("detail") || object.get("object").is_some_and(|object| object.says("error")) => {
                Some(StreamSign::Likely(&OpenAiChat))
            }
            // AWS says nothing else.
            () if is_text => Some(StreamSign::Likely(&BedrockConverse)),
            () => None,
        };
    };
    let is_gemini = error.object().is_some_and(|error| {
        error.get("code").is_some_and(|code| code.is(Kind::Number))
            && error.get("status").is_some_and(|status| status.is(Kind::String))
    });
    Some(StreamSign::Likely(if is_gemini { &GeminiGenerate } else { &OpenAiChat }))
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
