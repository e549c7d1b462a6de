//! Responses of Google's generateContent.

use serde_json::{Value, json};

use super::{Answer, Event, Said};

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

pub(super) fn whole(answer: &Answer) -> Value {
    let parts = match &answer.said {
        Said::Call(_) => json!(parts(answer)),
        Said::Text(pieces) => json!([{"text": pieces.concat()}]),
    };
    frame(&parts, Some(answer.stop("STOP", "STOP", "SAFETY")))
}

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let parts = parts(answer);
    let last = parts.len().saturating_sub(1);
    let stop = answer.stop("STOP", "STOP", "SAFETY");
    let finish = |index| (index == last).then_some(stop);
    parts.iter().enumerate().map(|(index, part)| ("", frame(&json!([part]), finish(index)))).collect()
}
