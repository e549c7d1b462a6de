//! Responses of `OpenAI`'s Chat Completions.

use serde_json::{Value, json};

use super::{Answer, Event, Reply, Said};

/// The frame behind the last event of a stream.
pub(crate) const STREAM_END: &str = "data: [DONE]\n\n";

fn finish(answer: &Answer) -> &'static str {
    answer.stop("stop", "tool_calls", "content_filter")
}

fn frame(answer: &Answer, object: &str, choice: &Value) -> Value {
    json!({"id": answer.id("chatcmpl-"), "object": object, "created": 1, "model": "mock-model", "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
}

pub(crate) fn whole(answer: &Answer) -> Value {
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

pub(crate) fn events(answer: &Answer) -> Vec<Event> {
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

/// A streamed response with one tool call, whose input is this text.
pub(crate) fn call_stream(name: &str, input: &str) -> String {
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": input}});
    let choice = json!({"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"});
    format!("data: {}\n\n{STREAM_END}", json!({"id": "c1", "choices": [choice]}))
}

/// The error of the service with a status, whatever the request holds; also that of Responses.
pub(crate) fn failure(status: u16) -> Reply {
    let (kind, code, message) = reason(status);
    Reply::json(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
}

fn reason(status: u16) -> (&'static str, Option<&'static str>, &'static str) {
    match status {
        400 => ("invalid_request_error", None, "Invalid value for 'temperature'."),
        401 => ("invalid_request_error", Some("invalid_api_key"), "Incorrect API key provided: sk-probe."),
        404 => (
            "invalid_request_error",
            Some("model_not_found"),
            "The model `probe` does not exist or you do not have access to it.",
        ),
        429 => (
            "tokens",
            Some("rate_limit_exceeded"),
            "Rate limit reached for gpt-5 in organization org-probe on tokens per min (TPM): Limit 30000, Used 29000, \
             Requested 2000. Please try again in 2s.",
        ),
        503 | 529 => {
            ("server_error", Some("server_is_overloaded"), "The server is overloaded. Please try again later.")
        }
        _ => ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
    }
}
