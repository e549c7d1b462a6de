//! Responses of Google's generateContent.

use serde_json::{Value, json};

use super::{Answer, Event, Reply, Said, unnamed};

fn frame(parts: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({"candidates": [candidate], "modelVersion": "gemini-2.5-pro",
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}})
}

fn parts(answer: &Answer) -> Vec<Value> {
    match &answer.said {
        Said::Call(call) => {
            vec![json!({"functionCall": {"id": answer.id("call_"), "name": call.name, "args": call.input},
            "thoughtSignature": "c2lnbmVkLXByb2Jl"})]
        }
        Said::Text(pieces) => pieces.iter().map(|text| json!({"text": text})).collect(),
    }
}

pub(crate) fn whole(answer: &Answer) -> Value {
    let parts = match &answer.said {
        Said::Call(_) => json!(parts(answer)),
        Said::Text(pieces) => json!([{"text": pieces.concat()}]),
    };
    frame(&parts, Some(answer.stop("STOP", "STOP", "SAFETY")))
}

pub(crate) fn events(answer: &Answer) -> Vec<Event> {
    let parts = parts(answer);
    let last = parts.len().saturating_sub(1);
    let stop = answer.stop("STOP", "STOP", "SAFETY");
    let finish = |index| (index == last).then_some(stop);
    parts.iter().enumerate().map(|(index, part)| ("", frame(&json!([part]), finish(index)))).collect()
}

/// A streamed response with one tool call, whose input is this text.
pub(crate) fn call_stream(name: &str, input: &str) -> String {
    let parts = json!([{"functionCall": {"name": name, "args": input}}]);
    unnamed(&[json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})])
}

/// The error of the service with a status, whatever the request holds.
pub(crate) fn failure(status: u16) -> Reply {
    let (word, message) = reason(status);
    Reply::json(status, &json!({"error": {"code": status, "message": message, "status": word}}))
}

/// The word and the message of a status, also those of Interactions.
pub(super) fn reason(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        403 => ("PERMISSION_DENIED", "The caller does not have permission"),
        404 => ("NOT_FOUND", "models/probe is not found for API version v1beta."),
        429 => ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota). Please retry in 2s."),
        503 | 529 => ("UNAVAILABLE", "The model is overloaded. Please try again later."),
        504 => ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
        _ => ("INTERNAL", "An internal error has occurred. Please retry."),
    }
}
