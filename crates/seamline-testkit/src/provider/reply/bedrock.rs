//! Responses of Bedrock's Converse.

use serde_json::{Value, json};

use super::{Answer, Event, Said};

fn stop(answer: &Answer) -> &'static str {
    answer.stop("end_turn", "tool_use", "content_filtered")
}

fn usage() -> Value {
    json!({"inputTokens": 1, "outputTokens": 1, "totalTokens": 2})
}

pub(super) fn whole(answer: &Answer) -> Value {
    let block = match &answer.said {
        Said::Call(call) => {
            json!({"toolUse": {"toolUseId": answer.id("tooluse_"), "name": call.name, "input": call.input}})
        }
        Said::Text(pieces) => json!({"text": pieces.concat()}),
    };
    json!({"output": {"message": {"role": "assistant", "content": [block]}}, "stopReason": stop(answer),
        "usage": usage(), "metrics": {"latencyMs": 1}})
}

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let mut events = vec![("messageStart", json!({"role": "assistant"}))];
    match &answer.said {
        Said::Call(call) => {
            let start = json!({"toolUse": {"toolUseId": answer.id("tooluse_"), "name": call.name}});
            let delta = json!({"toolUse": {"input": call.input.to_string()}});
            events.push(("contentBlockStart", json!({"contentBlockIndex": 0, "start": start})));
            events.push(("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": delta})));
        }
        Said::Text(pieces) => events.extend(
            pieces.iter().map(|text| ("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"text": text}}))),
        ),
    }
    events.extend([
        ("contentBlockStop", json!({"contentBlockIndex": 0})),
        ("messageStop", json!({"stopReason": stop(answer)})),
        ("metadata", json!({"usage": usage(), "metrics": {"latencyMs": 1}})),
    ]);
    events
}
