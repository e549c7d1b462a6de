//! Responses of Anthropic's Messages.

use serde_json::{Value, json};

use super::{Answer, Event, Reply, Said, unnamed};

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

pub(crate) fn whole(answer: &Answer) -> Value {
    let block = match &answer.said {
        Said::Call(call) => {
            json!({"type": "tool_use", "id": answer.id("toolu_"), "name": call.name, "input": call.input})
        }
        Said::Text(pieces) => json!({"type": "text", "text": pieces.concat()}),
    };
    message(answer, &json!([block]), &stop(answer))
}

pub(crate) fn events(answer: &Answer) -> Vec<Event> {
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

/// A streamed response with one tool call, whose input is this text.
pub(crate) fn call_stream(name: &str, input: &str) -> String {
    unnamed(&[
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": input}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ])
}

/// The error of the service with a status, whatever the request holds.
pub(crate) fn failure(status: u16) -> Reply {
    let (kind, message) = reason(status);
    let error = json!({"type": kind, "message": message});
    Reply::json(status, &json!({"type": "error", "error": error, "request_id": "req_probe"}))
}

fn reason(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("invalid_request_error", "max_tokens: Field required"),
        401 => ("authentication_error", "invalid x-api-key"),
        403 => ("permission_error", "Your API key does not have permission to use the specified resource."),
        404 => ("not_found_error", "model: claude-none"),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
        504 => ("timeout_error", "Request timed out"),
        503 | 529 => ("overloaded_error", "Overloaded"),
        _ => ("api_error", "Internal server error"),
    }
}
