//! The signs by which requests, steps and streams of the Interactions API are recognised.

use super::step::{self, FUNCTION_CALL, FUNCTION_RESULT};
use crate::Shapes;
use crate::detect::{BodySigns, NAMED, Score};
use crate::detect_stream::{StreamSigns, Typed};
use crate::json::{Kind, Object, Value};
use crate::no_message::{has_role, is_typed};

pub(super) const SHAPES: Shapes = Shapes {
    is_response: |response| !has_role(response) && response.get("steps").is_some_and(|steps| steps.is(Kind::Array)),
    message: ".steps[]",
    is_bare: |_| false,
    is_pair: |_| false,
    has_pairs,
    restates: |_| false,
};

/// Whether an object is a call or a result, or a step of a tool that the provider runs. The Responses API has calls of
/// the same type, whose input is a text.
fn has_pairs(step: Object<'_, '_>) -> bool {
    let is_call = is_typed(step, &[FUNCTION_CALL]) && step.get("call_id").is_none();
    let kind = step.get("type").map_or("", Value::raw_str);
    is_call || kind == FUNCTION_RESULT || kind.ends_with("_call") && step::is_own(kind)
}

/// The score for a type of step that no other dialect has. It outweighs an item type of the Responses API.
const OWN: i32 = 20;

pub(super) const BODY: BodySigns = BodySigns {
    precedence: 5,
    // The Responses API calls its list so as well. The elements decide.
    list: |score, name| if name == "input" { score.list() } else { score.add(-NAMED) },
    envelope: |score, key, value| match key {
        "previous_interaction_id" | "continuation_token" => score.decide(),
        // A text is an input of the Responses API as well, unless the model or another member says more.
        "input" if value.is(Kind::String) => score.add(5),
        "input" if value.is(Kind::Object) => score.decide(),
        "system_instruction" | "generation_config" | "agent_config" => score.add(6),
        _ => {}
    },
    message,
    block: |_, _, _| {},
};

fn message(score: &mut Score, key: &str, value: Value<'_, '_>) {
    match key {
        "type" if step::is_own(value.raw_str()) || step::is_content(value.raw_str()) => score.prove_by(OWN),
        // The Responses API has calls of the same type, whose input is a text.
        "type" if value.says(FUNCTION_CALL) => score.decide(),
        "arguments" if value.is(Kind::Object) => score.add(5),
        _ => {}
    }
}

pub(super) const STREAM: StreamSigns = StreamSigns {
    has_event: is_event,
    typed: |_, _| Typed::Unknown,
    has_members: |object| {
        let is_named = object.get("event_type").is_some_and(|name| is_event(name.raw_str()));
        is_named || object.get("object").is_some_and(|object| object.says("interaction"))
    },
    is_error: |object| object.get("event_type").is_some_and(|name| name.says("error")),
    has_exceptions: false,
    has_pings: false,
};

fn is_event(name: &str) -> bool {
    name.starts_with("interaction.") || name.starts_with("step.")
}
