//! The signs by which requests, contents and streams of generateContent are recognised.

use crate::Shapes;
use crate::detect::{BodySigns, NAMED};
use crate::detect_stream::{StreamSigns, Typed};
use crate::json::{Kind, Object, Value};
use crate::no_message::{has_role, holds, is_named};

pub(super) const SHAPES: Shapes = Shapes {
    is_response: |response| !has_role(response) && response.get("candidates").is_some(),
    message: ".candidates[0].content",
    is_bare: |content| content.get("parts").is_some(),
    is_pair,
    has_pairs: |content| holds(content, "parts", is_pair),
    restates: |_| false,
};

fn is_pair(part: Object<'_, '_>) -> bool {
    is_named(part, &["functionCall", "function_call", "functionResponse", "function_response"])
}

pub(super) const BODY: BodySigns = BodySigns {
    precedence: 3,
    list: |score, name| match name {
        "contents" => score.prove(),
        "messages" => score.add(-NAMED),
        _ => {}
    },
    envelope: |_, _, _| {},
    message: |score, key, value| {
        if key == "parts" && value.is(Kind::Array) {
            score.prove();
        }
    },
    block: |_, _, _| {},
};

pub(super) const STREAM: StreamSigns = StreamSigns {
    has_event: |_| false,
    typed: |_, _| Typed::Unknown,
    has_members: |object| {
        let has = |name| object.get(name).is_some();
        // A gateway of the same provider wraps the response in another object.
        let wrapped = object.get("response").and_then(Value::object);
        has("candidates")
            || has("promptFeedback")
            || has("usageMetadata")
            || wrapped.is_some_and(|response| response.get("candidates").is_some())
    },
    is_error: |object| {
        object.get("error").and_then(Value::object).is_some_and(|error| {
            error.get("code").is_some_and(|code| code.is(Kind::Number))
                && error.get("status").is_some_and(|status| status.is(Kind::String))
        })
    },
    has_exceptions: false,
    has_pings: false,
};
