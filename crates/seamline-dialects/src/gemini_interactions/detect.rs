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

pub(super) const BODY: BodySigns = BodySigns {
    precedence: 5,
    // The Responses API calls its list so as well. The elements decide.
    list: |score, name| if name == "input" { score.list() } else { score.add(-NAMED) },
    envelope: |score, key, value| match key {
        "previous_interaction_id" | "continuation_token" => score.decide(),
        // A text is an input of the Responses API as well, unless the model or another member says more.
        "input" if value.is(Kind::String) => score.add(5),
        "input" if value.is(Kind::Object) => score.decide(),
        "system_instruction" | "generation_config" | "agent" | "agent_config" => score.add(6),
        _ => {}
    },
    message,
    block: |_, _, _| {},
};

fn message(score: &mut Score, key: &str, value: Value<'_, '_>) {
    match key {
        "type" if step::is_own(value.raw_str()) => score.prove(),
        // Other dialects have blocks of these types inside a message, so this sign is weak.
        "type" if step::is_content(value.raw_str()) => score.hint(2),
        // The Responses API has calls of the same type, whose arguments are a string.
        "arguments" if value.is(Kind::Object) => score.hint(2),
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

#[cfg(test)]
mod tests {
    use crate::{contradiction, detect};

    fn name(body: &str) -> &'static str {
        detect(body.as_bytes()).unwrap().name()
    }

    const OWN: &str = "gemini_interactions";
    const RESPONSES: &str = "openai_responses";

    #[test]
    fn steps_are_told_from_items_of_the_responses_api() {
        for (element, dialect) in [
            (r#"{"type":"user_input","content":[]}"#, OWN),
            (r#"{"type":"thought","signature":"c2ln"}"#, OWN),
            (r#"{"type":"function_call","id":"a","name":"f","arguments":{}}"#, OWN),
            (r#"{"type":"function_result","call_id":"a","result":"x"}"#, OWN),
            (r#"{"type":"google_search_call","id":"s"}"#, OWN),
            (r#"{"type":"text","text":"hi"}"#, OWN),
            (r#"{"role":"user","content":"hi"}"#, RESPONSES),
            (r#"{"type":"message","role":"user","content":"hi"}"#, RESPONSES),
            (r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#, RESPONSES),
            (r#"{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":{}}"#, RESPONSES),
            (r#"{"type":"function_call_output","call_id":"a","output":"x"}"#, RESPONSES),
            (r#"{"type":"reasoning","summary":[]}"#, RESPONSES),
            (r#"{"type":"function_call","call_id":"a","name":"f"}"#, RESPONSES),
        ] {
            assert_eq!(name(&format!(r#"{{"model":"m","input":[{element}]}}"#)), dialect, "{element}");
        }
    }

    #[test]
    fn an_input_without_steps_is_known_by_the_members_around_it() {
        assert_eq!(name(r#"{"model":"gemini-4-pro","input":"hi"}"#), OWN);
        assert_eq!(name(r#"{"model":"m","previous_interaction_id":"v1_a","input":"hi"}"#), OWN);
        assert_eq!(name(r#"{"model":"m","input":{"type":"text","text":"hi"}}"#), OWN);
        assert_eq!(name(r#"{"agent":"deep-research-preview","input":"hi"}"#), OWN);
        assert_eq!(name(r#"{"model":"gpt-5","input":"hi"}"#), RESPONSES);
        assert_eq!(name(r#"{"model":"m","input":"hi"}"#), RESPONSES);
    }

    #[test]
    fn a_conversation_with_types_of_both_is_not_split() {
        let call = r#"{"type":"function_call","id":"a","name":"f","arguments":{}}"#;
        let result = r#"{"type":"function_result","call_id":"a","name":"f","result":"x"}"#;
        let search = r#"{"type":"user_input"},{"type":"file_search_call","id":"s"}"#;
        for steps in [call.to_owned(), format!("{call},{result}"), search.to_owned()] {
            assert_eq!(name(&format!(r#"{{"input":[{steps}]}}"#)), OWN, "{steps}");
        }
        // Arguments that are an object are a known defect of bodies of the Responses API.
        let damaged = r#"{"type":"function_call","call_id":"a","name":"f","arguments":{}}"#;
        let output = r#"{"type":"function_call_output","call_id":"a","output":"x"}"#;
        assert_eq!(name(&format!(r#"{{"input":[{damaged},{output}]}}"#)), RESPONSES);
        assert_eq!(name(&format!("[{damaged},{output}]")), RESPONSES);
    }

    #[test]
    fn a_list_without_signs_may_be_either() {
        let plain = br#"{"input":[{"role":"user","content":"hi"}]}"#;
        assert!(contradiction(plain, OWN).is_none() && contradiction(plain, RESPONSES).is_none());
        assert_eq!(contradiction(plain, "openai_chat").map(crate::Dialect::name), Some(RESPONSES));
    }

    #[test]
    fn neither_is_read_as_the_other() {
        let found = |body: &str, dialect| contradiction(body.as_bytes(), dialect).map(crate::Dialect::name);
        let steps = r#"{"input":[{"type":"user_input"},{"type":"function_call","id":"a","name":"f","arguments":{}}]}"#;
        let items = r#"{"input":[{"role":"user","content":"hi"},{"type":"reasoning","summary":[]}]}"#;
        assert_eq!((found(steps, RESPONSES), found(steps, "openai_chat")), (Some(OWN), Some(OWN)));
        assert_eq!((found(items, OWN), found(items, "openai_chat")), (Some(RESPONSES), Some(RESPONSES)));
        assert_eq!((found(steps, OWN), found(items, RESPONSES)), (None, None));
    }
}
