//! The signs by which requests, messages and streams of the Messages API are recognised.

use crate::Shapes;
use crate::detect::{BodySigns, Score, first_tool_has, starts_typeless};
use crate::detect_stream::{StreamSigns, Typed};
use crate::json::{Kind, Object, Value};
use crate::no_message::{holds, is_typed};

pub(super) const SHAPES: Shapes = Shapes {
    is_response: |response| response.get("role").is_some() && response.get("stop_reason").is_some(),
    message: "{role, content}",
    is_bare: |_| false,
    is_pair,
    has_pairs: |message| holds(message, "content", is_pair),
    restates: |_| false,
};

fn is_pair(block: Object<'_, '_>) -> bool {
    is_typed(block, &["tool_use", "tool_result"])
}

pub(super) const BODY: BodySigns = BodySigns { precedence: 1, list: |_, _| {}, envelope, message: |_, _, _| {}, block };

fn envelope(score: &mut Score, key: &str, value: Value<'_, '_>) {
    match key {
        "anthropic_version" | "anthropic_beta" => score.decide(),
        "system" if starts_typeless(value) => {}
        "system" | "stop_sequences" => score.add(3),
        // Servers of Chat Completions take it as well.
        "thinking" => score.add(1),
        "tools" if first_tool_has(value, "input_schema") => score.decide(),
        _ => {}
    }
}

fn block(score: &mut Score, kind: Option<&str>, _: Value<'_, '_>) {
    match kind {
        Some("tool_use" | "tool_result" | "redacted_thinking" | "server_tool_use") => score.prove(),
        // Some servers of Chat Completions send it as well.
        Some("thinking") => score.hint(5),
        Some("image" | "document") => score.hint(4),
        _ => {}
    }
}

pub(super) const STREAM: StreamSigns = StreamSigns {
    has_event: |name| {
        matches!(
            name,
            "message_start"
                | "message_delta"
                | "message_stop"
                | "content_block_start"
                | "content_block_delta"
                | "content_block_stop"
        )
    },
    typed,
    // Bedrock wraps the events of its models in an object with `bytes`.
    has_members: |object| object.get("bytes").is_some_and(|bytes| bytes.is(Kind::String)),
    is_error: |_| false,
    has_exceptions: false,
    has_pings: true,
};

fn typed(kind: &str, object: Object<'_, '_>) -> Typed {
    let has = |name| object.get(name).is_some();
    match kind {
        "message" if has("content") => Typed::Certain,
        // The Responses API calls its errors the same, and gateways pass errors on into any stream.
        "error" if has("error") && !has("sequence_number") && !has("message") => Typed::Likely,
        _ => Typed::Unknown,
    }
}
