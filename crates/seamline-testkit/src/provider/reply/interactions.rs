//! Responses of Google's Interactions.

use serde_json::{Value, json};

use super::{Answer, Event, Reply, Said, gemini, unnamed};

/// Google's text when its filter ends a response.
const FILTERED: &str = "The response was blocked because it violates Google's Responsible AI practices.";

fn interaction(answer: &Answer, status: &str) -> Value {
    json!({"id": answer.id("v1_"), "status": status, "object": "interaction", "model": "gemini-4-pro",
        "usage": {"total_tokens": 2, "total_input_tokens": 1, "total_output_tokens": 1}})
}

fn status(answer: &Answer) -> &'static str {
    answer.stop("completed", "requires_action", "failed")
}

fn refused() -> Value {
    json!({"message": FILTERED, "code": "content_filtered"})
}

pub(crate) fn whole(answer: &Answer) -> Value {
    let step = match &answer.said {
        Said::Call(call) => {
            json!({"type": "function_call", "id": answer.id("fc_"), "name": call.name, "arguments": call.input})
        }
        Said::Text(pieces) => json!({"type": "model_output", "content": [{"type": "text", "text": pieces.concat()}]}),
    };
    let mut whole = interaction(answer, status(answer));
    whole["steps"] = json!([step]);
    if answer.is_filtered {
        whole["error"] = refused();
    }
    whole
}

pub(crate) fn events(answer: &Answer) -> Vec<Event> {
    let (step, deltas): (Value, Vec<Value>) = match &answer.said {
        Said::Call(call) => (
            json!({"type": "function_call", "id": answer.id("fc_"), "name": call.name, "arguments": {}}),
            vec![json!({"type": "arguments_delta", "arguments": call.input.to_string()})],
        ),
        Said::Text(pieces) => {
            (json!({"type": "model_output"}), pieces.iter().map(|text| json!({"type": "text", "text": text})).collect())
        }
    };
    let mut events = vec![
        ("interaction.created", json!({"interaction": interaction(answer, "in_progress")})),
        ("step.start", json!({"index": 0, "step": step})),
    ];
    events.extend(deltas.into_iter().map(|delta| ("step.delta", json!({"index": 0, "delta": delta}))));
    if answer.is_filtered {
        events.push(("error", json!({"error": refused()})));
    } else {
        events.push(("step.stop", json!({"index": 0})));
        events.push(("interaction.completed", json!({"interaction": interaction(answer, status(answer))})));
    }
    for (name, data) in &mut events {
        data["event_type"] = json!(name);
    }
    events
}

/// A streamed response with one tool call, whose input is this text.
pub(crate) fn call_stream(name: &str, input: &str) -> String {
    unnamed(&[
        json!({"event_type": "interaction.created", "interaction": {"id": "i1", "status": "in_progress"}}),
        json!({"event_type": "step.start", "index": 0, "step": {"type": "function_call", "id": "fc_1", "name": name, "arguments": {}}}),
        json!({"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": input}}),
        json!({"event_type": "step.stop", "index": 0}),
        json!({"event_type": "interaction.completed", "interaction": {"id": "i1", "status": "requires_action"}}),
    ])
}

/// The error of the service with a status, whatever the request holds.
pub(crate) fn failure(status: u16) -> Reply {
    let (word, message) = gemini::reason(status);
    Reply::json(status, &json!({"error": {"message": message, "code": word.to_ascii_lowercase()}}))
}
