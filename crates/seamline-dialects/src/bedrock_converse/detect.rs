//! The signs by which requests, messages and streams of the Converse API are recognised.

use crate::Shapes;
use crate::detect::{BodySigns, Score, starts_typeless};
use crate::detect_stream::{StreamSigns, Typed};
use crate::json::{Kind, Object, Value};
use crate::no_message::{has_role, holds, is_named};

pub(super) const SHAPES: Shapes = Shapes {
    is_response: |response| !has_role(response) && response.get("output").is_some_and(|output| !output.is(Kind::Array)),
    message: ".output.message",
    is_bare: |_| false,
    is_pair,
    has_pairs: |message| holds(message, "content", is_pair),
    restates: |_| false,
};

fn is_pair(block: Object<'_, '_>) -> bool {
    is_named(block, &["toolUse", "toolResult"])
}

pub(super) const BODY: BodySigns = BodySigns { precedence: 4, list: |_, _| {}, envelope, message: |_, _, _| {}, block };

fn envelope(score: &mut Score, key: &str, value: Value<'_, '_>) {
    match key {
        "modelId" | "toolConfig" | "inferenceConfig" | "guardrailConfig" | "additionalModelRequestFields" => {
            score.decide();
        }
        "system" if starts_typeless(value) => score.add(3),
        _ => {}
    }
}

fn block(score: &mut Score, kind: Option<&str>, block: Value<'_, '_>) {
    if kind.is_some() {
        return;
    }
    for (key, _) in block.members() {
        match &*key.name() {
            "toolUse" | "toolResult" => score.prove(),
            "reasoningContent" | "cachePoint" => score.decide(),
            "text" => score.hint(4),
            _ => {}
        }
    }
}

const EVENTS: [&str; 5] = ["messageStart", "messageStop", "contentBlockStart", "contentBlockDelta", "contentBlockStop"];

pub(super) const STREAM: StreamSigns = StreamSigns {
    has_event: |name| EVENTS.contains(&name),
    typed: |_, _| Typed::Unknown,
    has_members: |object| {
        let is_object = |name| object.get(name).is_some_and(|held| held.is(Kind::Object));
        EVENTS.into_iter().any(is_object) || is_object("output") && object.get("stopReason").is_some()
    },
    // AWS writes a `message` and nothing else.
    is_error: |object| {
        let has = |name| object.get(name).is_some();
        let says_error = object.get("object").is_some_and(|object| object.says("error"));
        let has_text = object.get("message").is_some_and(|message| message.is(Kind::String));
        has_text && !has("error") && !has("detail") && !says_error
    },
    // Only an AWS event stream has exceptions; models of other dialects may speak in one.
    has_exceptions: true,
    has_pings: false,
};
