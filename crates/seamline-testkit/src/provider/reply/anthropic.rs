//! Responses of Anthropic's Messages.

use serde_json::{Value, json};

use super::{Answer, Event, Said};

fn message(answer: &Answer, content: &Value, stop: &Value) -> Value {
    json!({"id": answer.id("msg_"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage()})
}

fn usage() -> Value {
    json!({"input_tokens": 1, "output_tokens": 1})
}

fn stop(answer: &Answer) -> Value {
    json!(answer.stop("end_turn", "tool_use", "refusal"))
}

pub(super) fn whole(answer: &Answer) -> Value {
    let block = match &answer.said {
        Said::Call(call) => {
            json!({"type": "tool_use", "id": answer.id("toolu_"), "name": call.name, "input": call.input})
        }
        Said::Text(pieces) => json!({"type": "text", "text": pieces.concat()}),
    };
    message(answer, &json!([block]), &stop(answer))
}

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let (start, deltas): (Value, Vec<Value>) = match &answer.said {
        Said::Call(call) => (
            json!({"type": "tool_use", "id": answer.id("toolu_"), "name": call.name, "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": call.input.to_string()})],
        ),
        Said::Text(pieces) => {
            let delta = |text| json!({"type": "text_delta", "text": text});
            (json!({"type": "text", "text": ""}), pieces.iter().map(delta).collect())
        }
    };
    let mut events = vec![
        ("message_start", json!({"type": "message_start", "message": message(answer, &json!([]), &Value::Null)})),
        ("content_block_start", json!({"type": "content_block_start", "index": 0, "content_block": start})),
    ];
    let delta = |delta| ("content_block_delta", json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    events.extend(deltas.into_iter().map(delta));
    let end = json!({"stop_reason": stop(answer), "stop_sequence": null});
    events.extend([
        ("content_block_stop", json!({"type": "content_block_stop", "index": 0})),
        ("message_delta", json!({"type": "message_delta", "delta": end, "usage": usage()})),
        ("message_stop", json!({"type": "message_stop"})),
    ]);
    events
}
