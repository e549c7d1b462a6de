//! The shape of a response: which members the provider writes, and which hold the model's words.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Returns a response, or the chunks of one that came as a list.
pub(crate) fn chunks(body: &Value) -> impl Iterator<Item = &Value> {
    let list = body.as_array().map_or(std::slice::from_ref(body), Vec::as_slice);
    list.iter().filter(|chunk| chunk.is_object())
}

/// The members that hold the content of a response.
const PARTS: [&str; 4] = ["candidates", "choices", "content", "output"];

/// The members that hold the stop reason.
const ENDINGS: [&str; 3] = ["finish_reason", "stopReason", "stop_reason"];

/// Whether a body is a response: it has content, or at least the shape of a response without an error of its server.
/// Servers use the members of a response in errors too.
pub(crate) fn is_response(body: &Value) -> bool {
    let is_part = |name: &str, value: &Value| value.is_array() || name == "output" && value.is_object();
    let parts = || PARTS.iter().filter_map(|name| body.get(*name).filter(|value| is_part(name, value)));
    let has_ending = ENDINGS.iter().any(|name| body.get(*name).is_some_and(Value::is_string));
    parts().any(has_value) || (parts().next().is_some() || has_ending) && !is_failure(body)
}

/// Whether a body reports a failure of its server. A `message` that is an object is a message of the model.
fn is_failure(body: &Value) -> bool {
    let says = |name| body.get(name).is_some_and(has_value);
    let has_sentence = body.get("message").is_some_and(|message| message.is_string() && has_value(message));
    let is_error = body.get("object").and_then(Value::as_str) == Some("error");
    is_error || has_sentence && !body.get("code").is_some_and(is_success) || says("detail") || says("errors")
}

/// Whether a value is neither null nor empty.
fn has_value(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// Whether a code beside a response means success.
fn is_success(code: &Value) -> bool {
    let is_word = |word: &str| ["ok", "success"].iter().any(|good| word.eq_ignore_ascii_case(good));
    matches!(code.as_u64(), Some(0 | 200)) || code.as_str().is_some_and(is_word)
}

/// The places of errors in a successful body.
const ERRORS: [&str; 5] = ["/error", "/response/error", "/choices/0/error", "/x_groq/error", "/base_resp"];

/// Finds the error inside a response.
pub(crate) fn error_in(body: &Value) -> Option<&Value> {
    let is_said = |error: &&Value| match error {
        Value::Object(members) => !members.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    ERRORS.iter().filter_map(|at| body.pointer(at)).find(is_said)
}

/// The members that hold words of the model, its tools or the user.
const SPOKEN: [&str; 10] =
    ["completion", "content", "delta", "input", "instructions", "message", "metadata", "output", "text", "tools"];

/// The lists whose elements have such members too.
const LISTS: [&str; 2] = ["candidates", "choices"];

/// Removes the model's words from a text that is a response; other texts stay unchanged. Prose and arguments of the model
/// are not errors. If the status is a failure, plain strings in the body are the server's and stay.
pub(crate) fn strip_model_words(text: &str, status: Option<u16>) -> Cow<'_, str> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Cow::Borrowed(text);
    }
    let Ok(mut body) = serde_json::from_str::<Value>(text) else { return Cow::Borrowed(text) };
    if !chunks(&body).any(is_response) {
        return Cow::Borrowed(text);
    }
    let list = match &mut body {
        Value::Array(list) => list.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    let is_refused = status.is_some_and(|status| status >= 400);
    // A `message` that is a plain string is the server's, whatever the status: a model's message has parts.
    let is_servers = |name: &str, value: &Value| value.is_string() && (is_refused || name == "message");
    for response in list.iter_mut().filter_map(Value::as_object_mut) {
        response.retain(|name, value| !is_spoken(name) || is_servers(name, value));
        strip_lists(response);
    }
    Cow::Owned(body.to_string())
}

fn is_spoken(name: &str) -> bool {
    SPOKEN.contains(&name)
}

fn strip_lists(response: &mut Map<String, Value>) {
    for name in LISTS {
        let list = response.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten();
        list.filter_map(Value::as_object_mut).for_each(|inner| inner.retain(|name, _| !is_spoken(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_provider_s_members_of_a_response_stay() {
        let answer = r#"{"choices":[{"finish_reason":"error","message":{"content":"x"}}],"error":{"code":502}}"#;
        assert_eq!(strip_model_words(answer, None), r#"{"choices":[{"finish_reason":"error"}],"error":{"code":502}}"#);
        let chunks = r#"[{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]},{"usage":1}]"#;
        assert_eq!(strip_model_words(chunks, Some(200)), r#"[{"candidates":[{"finishReason":"STOP"}]},{"usage":1}]"#);
        for other in ["", "content", "{", r#"{"message":"no","content":"x"}"#, r#"{"error":{"message":"x"}}"#] {
            assert_eq!(strip_model_words(other, None), other);
        }
    }

    #[test]
    fn a_server_s_sentence_is_not_a_response_whatever_is_beside_it() {
        for error in [
            r#"{"choices":[],"message":"slow down","object":"error"}"#,
            r#"{"content":"slow down","choices":[],"object":"error"}"#,
            r#"{"output":null,"finish_reason":"","message":"no"}"#,
            r#"{"message":"no","finish_reason":"ERROR","text":"why"}"#,
            r#"{"content":[],"detail":"no","text":"why"}"#,
        ] {
            assert_eq!(strip_model_words(error, None), error);
        }
        let half = r#"{"choices":[{"message":{"content":"x"}}],"message":"slow down","text":"y"}"#;
        assert_eq!(strip_model_words(half, None), r#"{"choices":[{}],"message":"slow down"}"#);
        assert_eq!(strip_model_words(half, Some(500)), r#"{"choices":[{}],"message":"slow down","text":"y"}"#);
        let cohere = r#"{"message":{"content":[]},"finish_reason":"ERROR"}"#;
        assert_eq!(strip_model_words(cohere, None), r#"{"finish_reason":"ERROR"}"#);
        let responses = r#"{"object":"response","output":[],"instructions":"rate limit"}"#;
        assert_eq!(strip_model_words(responses, None), r#"{"object":"response"}"#);
        let well = r#"{"code":0,"message":"ok","choices":[],"text":"y"}"#;
        assert_eq!(strip_model_words(well, None), r#"{"choices":[],"code":0,"message":"ok"}"#);
    }
}
