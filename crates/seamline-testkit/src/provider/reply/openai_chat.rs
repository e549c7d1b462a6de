//! Responses of `OpenAI`'s Chat Completions.

use serde_json::{Value, json};

use super::{Answer, Event, Said};

fn finish(answer: &Answer) -> &'static str {
    answer.stop("stop", "tool_calls", "content_filter")
}

fn frame(answer: &Answer, object: &str, choice: &Value) -> Value {
    json!({"id": answer.id("chatcmpl-"), "object": object, "created": 1, "model": "mock-model", "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
}

pub(super) fn whole(answer: &Answer) -> Value {
    let message = match &answer.said {
        Said::Call(call) => {
            let function = json!({"name": call.name, "arguments": call.input.to_string()});
            let call = json!({"id": answer.id("call_"), "type": "function", "function": function});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        }
        Said::Text(pieces) => json!({"role": "assistant", "content": pieces.concat()}),
    };
    frame(answer, "chat.completion", &json!({"index": 0, "message": message, "finish_reason": finish(answer)}))
}

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let mut deltas: Vec<Value> = match &answer.said {
        Said::Call(call) => {
            let function = json!({"name": call.name, "arguments": call.input.to_string()});
            let call = json!({"index": 0, "id": answer.id("call_"), "type": "function", "function": function});
            vec![json!({"content": null, "tool_calls": [call]})]
        }
        Said::Text(pieces) => pieces.iter().map(|text| json!({"content": text})).collect(),
    };
    if let Some(first) = deltas.first_mut() {
        first["role"] = json!("assistant");
    }
    let chunk = |choice: Value| ("", frame(answer, "chat.completion.chunk", &choice));
    let said = deltas.into_iter().map(|delta| json!({"index": 0, "delta": delta, "finish_reason": null}));
    let end = json!({"index": 0, "delta": {}, "finish_reason": finish(answer)});
    said.chain([end]).map(chunk).collect()
}
