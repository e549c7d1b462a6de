//! The signs by which requests, messages and streams of Chat Completions are recognised.

use super::{foreign, lift};
use crate::Shapes;
use crate::detect::{BodySigns, Score, first_tool_has};
use crate::detect_stream::{StreamSigns, Typed};
use crate::json::{Kind, Object, Value};
use crate::no_message::{has_role, holds};

pub(super) const SHAPES: Shapes = Shapes {
    is_response: |response| !has_role(response) && response.get("choices").is_some(),
    message: ".choices[0].message",
    is_bare: |_| false,
    is_pair: |_| false,
    has_pairs: lift::has_pairs,
    restates: |message| holds(message, "content", foreign::is_pair),
};

pub(super) const BODY: BodySigns = BodySigns {
    precedence: 0,
    list: |_, _| {},
    envelope,
    message,
    block: |score, kind, _| {
        if let Some("image_url" | "input_audio" | "file") = kind {
            score.decide();
        }
    },
};

fn envelope(score: &mut Score, key: &str, value: Value<'_, '_>) {
    match key {
        "max_completion_tokens"
        | "stream_options"
        | "response_format"
        | "frequency_penalty"
        | "parallel_tool_calls"
        | "logprobs"
        | "reasoning_effort"
        | "functions" => score.add(3),
        "tools" if first_tool_has(value, "function") => score.decide(),
        _ => {}
    }
}

fn message(score: &mut Score, key: &str, value: Value<'_, '_>) {
    match key {
        // Clients of other dialects keep these beside a text.
        "tool_calls" if value.is(Kind::Array) && value.elements().next().is_none() => score.hint(4),
        "reasoning_content" if !value.is(Kind::Null) => score.hint(4),
        "tool_calls" | "tool_call_id" if !value.is(Kind::Null) => score.prove(),
        "function_call" if !value.is(Kind::Null) => score.decide(),
        "role" => match value.raw_str() {
            "tool" | "function" => score.prove(),
            "developer" => score.decide(),
            "system" => score.hint(3),
            _ => {}
        },
        _ => {}
    }
}

pub(super) const STREAM: StreamSigns = StreamSigns {
    // Cohere's own events, which the reader of Chat Completions reads as well.
    has_event: |name| {
        matches!(
            name,
            "message-start"
                | "message-end"
                | "content-start"
                | "content-delta"
                | "content-end"
                | "tool-plan-delta"
                | "tool-call-start"
                | "tool-call-delta"
                | "tool-call-end"
        )
    },
    typed: |_, _| Typed::Unknown,
    has_members,
    // Most servers speak this dialect, so it takes any error.
    is_error: |object| {
        let has = |name| object.get(name).is_some();
        has("error") || has("detail") || object.get("object").is_some_and(|object| object.says("error"))
    },
    has_exceptions: false,
    has_pings: false,
};

fn has_members(object: Object<'_, '_>) -> bool {
    let has = |name| object.get(name).is_some();
    let has_choices = object.get("choices").is_some_and(|choices| choices.is(Kind::Array));
    // Responses of Ollama's own interface, and of Cohere's.
    let has_message = object.get("message").is_some_and(|message| message.is(Kind::Object));
    has_choices || has_message && (has("done") || has("finish_reason"))
}
