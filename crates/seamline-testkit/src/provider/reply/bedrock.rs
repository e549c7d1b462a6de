//! Responses of Bedrock's Converse.

use serde_json::{Value, json};

use super::{Answer, Event, Reply, Said};

fn stop(answer: &Answer) -> &'static str {
    answer.stop("end_turn", "tool_use", "content_filtered")
}

fn usage() -> Value {
    json!({"inputTokens": 1, "outputTokens": 1, "totalTokens": 2})
}

pub(crate) fn whole(answer: &Answer) -> Value {
    let block = match &answer.said {
        Said::Call(call) => {
            json!({"toolUse": {"toolUseId": answer.id("tooluse_"), "name": call.name, "input": call.input}})
        }
        Said::Text(pieces) => json!({"text": pieces.concat()}),
    };
    json!({"output": {"message": {"role": "assistant", "content": [block]}}, "stopReason": stop(answer),
        "usage": usage(), "metrics": {"latencyMs": 1}})
}

pub(crate) fn events(answer: &Answer) -> Vec<Event> {
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

/// A streamed response with one tool call, whose input is this text, as lines of JSON.
pub(crate) fn call_stream(name: &str, input: &str) -> String {
    let events = [
        json!({"messageStart": {"role": "assistant"}}),
        json!({"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "tooluse_1", "name": name}}}}),
        json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": input}}}}),
        json!({"contentBlockStop": {"contentBlockIndex": 0}}),
        json!({"messageStop": {"stopReason": "tool_use"}}),
    ];
    events.map(|event| format!("{event}\n")).concat()
}

/// The error of the service with a status, whatever the request holds.
pub(crate) fn failure(status: u16) -> Reply {
    let (kind, message) = reason(status);
    Reply::json(status, &json!({"message": message})).with_header("x-amzn-errortype", kind)
}

fn reason(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("ValidationException", "The provided model identifier is invalid."),
        403 => ("AccessDeniedException", "You don't have access to the model with the specified model ID."),
        404 => ("ResourceNotFoundException", "The specified model was not found."),
        424 => ("ModelErrorException", "The model had an error."),
        429 => ("ThrottlingException", "Too many requests, please wait before trying again."),
        503 | 529 => ("ServiceUnavailableException", "Bedrock is unable to process your request."),
        _ => ("InternalServerException", "The system encountered an unexpected error during processing."),
    }
}
