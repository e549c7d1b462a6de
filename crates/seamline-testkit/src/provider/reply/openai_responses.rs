//! Responses of `OpenAI`'s Responses.

use serde_json::{Value, json};

use super::{Answer, Event, Said, unnamed};

fn item(answer: &Answer, is_done: bool) -> Value {
    let status = if is_done { "completed" } else { "in_progress" };
    match &answer.said {
        Said::Call(call) => {
            let arguments = if is_done { call.input.to_string() } else { String::new() };
            json!({"type": "function_call", "id": answer.id("fc_"), "call_id": answer.id("call_"), "name": call.name,
                "arguments": arguments, "status": status})
        }
        Said::Text(pieces) => {
            let part = json!({"type": "output_text", "text": pieces.concat(), "annotations": []});
            let content = if is_done { json!([part]) } else { json!([]) };
            json!({"type": "message", "id": answer.id("msg_"), "role": "assistant", "status": status, "content": content})
        }
    }
}

fn response(answer: &Answer, status: &str, output: &Value) -> Value {
    let mut response = json!({"id": answer.id("resp_"), "object": "response", "created_at": 1, "model": "gpt-5",
        "status": status, "output": output,
        "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}});
    if status == "incomplete" {
        response["incomplete_details"] = json!({"reason": "content_filter"});
    }
    response
}

pub(crate) fn whole(answer: &Answer) -> Value {
    response(answer, answer.stop("completed", "completed", "incomplete"), &json!([item(answer, true)]))
}

pub(crate) fn events(answer: &Answer) -> Vec<Event> {
    let open = response(answer, "in_progress", &json!([]));
    let mut events = vec![
        ("response.created", json!({"response": open})),
        ("response.output_item.added", json!({"output_index": 0, "item": item(answer, false)})),
    ];
    events.extend(pieces(answer));
    let ended = answer.stop("response.completed", "response.completed", "response.incomplete");
    events.extend([
        ("response.output_item.done", json!({"output_index": 0, "item": item(answer, true)})),
        (ended, json!({"response": whole(answer)})),
    ]);
    for (number, (name, data)) in events.iter_mut().enumerate() {
        (data["type"], data["sequence_number"]) = (json!(name), json!(number));
    }
    events
}

fn pieces(answer: &Answer) -> Vec<Event> {
    let at = |id: String, key: &str, value: Value| json!({"item_id": id, "output_index": 0, key: value});
    let text = |key: &str, value: Value| {
        let mut data = at(answer.id("msg_"), key, value);
        data["content_index"] = json!(0);
        data
    };
    match &answer.said {
        Said::Call(call) => {
            let (id, arguments) = (answer.id("fc_"), json!(call.input.to_string()));
            vec![
                ("response.function_call_arguments.delta", at(id.clone(), "delta", arguments.clone())),
                ("response.function_call_arguments.done", at(id, "arguments", arguments)),
            ]
        }
        Said::Text(pieces) => {
            let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
            let deltas = pieces.iter().map(|piece| ("response.output_text.delta", text("delta", json!(piece))));
            let mut events = vec![("response.content_part.added", text("part", part("")))];
            events.extend(deltas);
            events.push(("response.output_text.done", text("text", json!(pieces.concat()))));
            events.push(("response.content_part.done", text("part", part(&pieces.concat()))));
            events
        }
    }
}

/// A streamed response with one tool call, whose input is this text.
pub(crate) fn call_stream(name: &str, input: &str) -> String {
    let item = json!({"id": "fc_1", "type": "function_call", "status": "completed", "arguments": input, "call_id": "call_1", "name": name});
    unnamed(&[
        json!({"type": "response.created", "response": {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}}),
    ])
}
