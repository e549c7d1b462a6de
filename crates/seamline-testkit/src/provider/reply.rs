//! Responses in every dialect, streamed or whole.

use serde_json::{Value, json};

use super::tools::ToolCall;
use crate::Dialect;

/// The text of a response without a tool call.
const DONE: &str = "The probe ran.";

/// A response.
pub(super) struct Reply {
    pub(super) status: u16,
    kind: &'static str,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self { status, kind: "application/json", body: body.to_string() }
    }

    fn events(events: &[(&str, Value)]) -> Self {
        let written = events.iter().map(|(name, data)| match *name {
            "" => format!("data: {data}\n\n"),
            name => format!("event: {name}\ndata: {data}\n\n"),
        });
        Self { status: 200, kind: "text/event-stream", body: written.collect() }
    }

    pub(super) fn head(&self) -> String {
        format!(
            "HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            self.status,
            if self.status == 200 { "OK" } else { "Bad Request" },
            self.kind,
            self.body.len()
        )
    }
}

/// Rejects a request as the provider of a dialect does.
pub(super) fn rejection(dialect: Dialect, why: &str) -> Reply {
    let body = match dialect.name() {
        "anthropic_messages" => {
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": format!("messages: {why}")}})
        }
        "gemini_generate" => json!({"error": {"code": 400, "message": why, "status": "INVALID_ARGUMENT"}}),
        _ => json!({"error": {"message": why, "type": "invalid_request_error", "param": "messages", "code": null}}),
    };
    Reply::json(400, &body)
}

/// What to answer: a tool call, or a text.
#[derive(Clone, Copy)]
pub(super) struct Answer<'t> {
    /// The number of the response, which makes its ids unique.
    pub(super) number: usize,
    pub(super) is_stream: bool,
    pub(super) tool: Option<&'t ToolCall>,
}

impl Answer<'_> {
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}probe{:04}", self.number)
    }
}

/// A response to a request.
pub(super) fn response(dialect: Dialect, answer: Answer<'_>) -> Reply {
    match dialect.name() {
        "anthropic_messages" => anthropic(answer),
        "openai_chat" => chat(answer),
        "openai_responses" => responses(answer),
        "gemini_generate" => gemini(answer),
        _ => Reply::json(
            200,
            &json!({"output": {"message": {"role": "assistant", "content": [{"text": DONE}]}},
                "stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}}),
        ),
    }
}

fn anthropic(answer: Answer<'_>) -> Reply {
    let Answer { is_stream, tool, .. } = answer;
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let stop = if tool.is_some() { "tool_use" } else { "end_turn" };
    let block = match tool {
        Some(tool) => json!({"type": "tool_use", "id": answer.id("toolu_"), "name": tool.name, "input": tool.input}),
        None => json!({"type": "text", "text": DONE}),
    };
    let message = |content: Value, stop: Value| {
        json!({"id": answer.id("msg_"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage})
    };
    if !is_stream {
        return Reply::json(200, &message(json!([block]), json!(stop)));
    }
    let (start, delta) = match tool {
        Some(tool) => (
            json!({"type": "tool_use", "id": answer.id("toolu_"), "name": tool.name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": tool.input.to_string()}),
        ),
        None => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": DONE})),
    };
    Reply::events(&[
        ("message_start", json!({"type": "message_start", "message": message(json!([]), Value::Null)})),
        ("content_block_start", json!({"type": "content_block_start", "index": 0, "content_block": start})),
        ("content_block_delta", json!({"type": "content_block_delta", "index": 0, "delta": delta})),
        ("content_block_stop", json!({"type": "content_block_stop", "index": 0})),
        (
            "message_delta",
            json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}),
        ),
        ("message_stop", json!({"type": "message_stop"})),
    ])
}

fn chat(answer: Answer<'_>) -> Reply {
    let Answer { is_stream, tool, .. } = answer;
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let finish = if tool.is_some() { "tool_calls" } else { "stop" };
    let call = |index: Option<u8>| {
        tool.map(|tool| {
            let function = json!({"name": tool.name, "arguments": tool.input.to_string()});
            let mut call = json!({"id": answer.id("call_"), "type": "function", "function": function});
            if let Some(index) = index {
                call["index"] = json!(index);
            }
            call
        })
    };
    let said = |index: Option<u8>| match call(index) {
        Some(call) => json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        None => json!({"role": "assistant", "content": DONE}),
    };
    let whole = |object: &str, choice: Value| {
        json!({"id": answer.id("chatcmpl-"), "object": object, "created": 1, "model": "mock-model",
            "choices": [choice], "usage": usage})
    };
    if !is_stream {
        let choice = json!({"index": 0, "message": said(None), "finish_reason": finish});
        return Reply::json(200, &whole("chat.completion", choice));
    }
    let chunk = "chat.completion.chunk";
    let mut reply = Reply::events(&[
        ("", whole(chunk, json!({"index": 0, "delta": said(Some(0)), "finish_reason": null}))),
        ("", whole(chunk, json!({"index": 0, "delta": {}, "finish_reason": finish}))),
    ]);
    reply.body += "data: [DONE]\n\n";
    reply
}

fn responses(answer: Answer<'_>) -> Reply {
    let Answer { is_stream, tool, .. } = answer;
    let item = match tool {
        Some(tool) => {
            json!({"type": "function_call", "id": answer.id("fc_"), "call_id": answer.id("call_"), "name": tool.name,
            "arguments": tool.input.to_string(), "status": "completed"})
        }
        None => json!({"type": "message", "id": answer.id("msg_"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": DONE, "annotations": []}]}),
    };
    let response = |status: &str, output: Value| {
        json!({"id": answer.id("resp_"), "object": "response", "created_at": 1, "model": "gpt-5", "status": status, "output": output,
            "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}})
    };
    if !is_stream {
        return Reply::json(200, &response("completed", json!([item])));
    }
    let events = [
        ("response.created", json!({"response": response("in_progress", json!([]))})),
        ("response.output_item.added", json!({"output_index": 0, "item": item})),
        ("response.output_item.done", json!({"output_index": 0, "item": item})),
        ("response.completed", json!({"response": response("completed", json!([item]))})),
    ];
    let numbered = events.into_iter().enumerate().map(|(number, (name, mut data))| {
        (data["type"], data["sequence_number"]) = (json!(name), json!(number));
        (name, data)
    });
    Reply::events(&numbered.collect::<Vec<_>>())
}

fn gemini(answer: Answer<'_>) -> Reply {
    let Answer { is_stream, tool, .. } = answer;
    let part = match tool {
        Some(tool) => json!({"functionCall": {"id": answer.id("call_"), "name": tool.name, "args": tool.input},
            "thoughtSignature": "c2lnbmVkLXByb2Jl"}),
        None => json!({"text": DONE}),
    };
    let whole = json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "gemini-2.5-pro"});
    if is_stream { Reply::events(&[("", whole)]) } else { Reply::json(200, &whole) }
}
