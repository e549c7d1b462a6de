//! The shape of an answer: what its provider says about it, and what the model said in it.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// One answer, or the chunks of one that came as a list.
pub(crate) fn chunks(body: &Value) -> impl Iterator<Item = &Value> {
    let list = body.as_array().map_or(std::slice::from_ref(body), Vec::as_slice);
    list.iter().filter(|chunk| chunk.is_object())
}

/// Members that hold what an answer says.
const PARTS: [&str; 4] = ["candidates", "choices", "content", "output"];

/// Members that hold the word for why an answer ended.
const ENDINGS: [&str; 3] = ["finish_reason", "stopReason", "stop_reason"];

/// Whether a body is an answer: it says something as one, or has at least the shape of one and no
/// word of its server that it failed. Servers write errors with the members of an answer too.
pub(crate) fn is_answer(body: &Value) -> bool {
    let is_part = |name: &str, value: &Value| value.is_array() || name == "output" && value.is_object();
    let parts = || PARTS.iter().filter_map(|name| body.get(*name).filter(|value| is_part(name, value)));
    let has_ending = ENDINGS.iter().any(|name| body.get(*name).is_some_and(Value::is_string));
    parts().any(is_told) || (parts().next().is_some() || has_ending) && !is_failure(body)
}

/// Whether a server says itself that it failed, where an answer should stand. What has the name of
/// a message and is an object is one.
fn is_failure(body: &Value) -> bool {
    let says = |name| body.get(name).is_some_and(is_told);
    let has_sentence = body.get("message").is_some_and(|message| message.is_string() && is_told(message));
    let is_error = body.get("object").and_then(Value::as_str) == Some("error");
    is_error || has_sentence && !body.get("code").is_some_and(is_success) || says("detail") || says("errors")
}

/// Whether a value says something: neither null nor empty.
fn is_told(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// Whether the code that a server writes beside an answer says that all is well.
fn is_success(code: &Value) -> bool {
    let is_word = |word: &str| ["ok", "success"].iter().any(|good| word.eq_ignore_ascii_case(good));
    matches!(code.as_u64(), Some(0 | 200)) || code.as_str().is_some_and(is_word)
}

/// Where errors stand in a body that began well.
const ERRORS: [&str; 5] = ["/error", "/response/error", "/choices/0/error", "/x_groq/error", "/base_resp"];

/// The error in an answer, if there is one.
pub(crate) fn error_in(body: &Value) -> Option<&Value> {
    let is_said = |error: &&Value| match error {
        Value::Object(members) => !members.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    ERRORS.iter().filter_map(|at| body.pointer(at)).find(is_said)
}

/// Members in which the model, its tools or the user speak.
const SPOKEN: [&str; 10] =
    ["completion", "content", "delta", "input", "instructions", "message", "metadata", "output", "text", "tools"];

/// Lists whose elements are answers themselves.
const LISTS: [&str; 2] = ["candidates", "choices"];

/// A text without what a model said in it, where it is an answer; else as it is. What stands in
/// arguments and prose is nobody's error. Where the status is a failure, only pieces of an answer
/// may stand in the body, and bare sentences beside them are the server's.
pub(crate) fn unspoken(text: &str, status: Option<u16>) -> Cow<'_, str> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Cow::Borrowed(text);
    }
    let Ok(mut body) = serde_json::from_str::<Value>(text) else { return Cow::Borrowed(text) };
    if !chunks(&body).any(is_answer) {
        return Cow::Borrowed(text);
    }
    let list = match &mut body {
        Value::Array(list) => list.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    let is_refused = status.is_some_and(|status| status >= 400);
    // A message that is a bare sentence is the server's whatever the status: a model's has parts.
    let is_servers = |name: &str, value: &Value| value.is_string() && (is_refused || name == "message");
    for answer in list.iter_mut().filter_map(Value::as_object_mut) {
        answer.retain(|name, value| !is_spoken(name) || is_servers(name, value));
        hush_lists(answer);
    }
    Cow::Owned(body.to_string())
}

fn is_spoken(name: &str) -> bool {
    SPOKEN.contains(&name)
}

fn hush_lists(answer: &mut Map<String, Value>) {
    for name in LISTS {
        let list = answer.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten();
        list.filter_map(Value::as_object_mut).for_each(|inner| inner.retain(|name, _| !is_spoken(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_provider_says_is_left_of_an_answer() {
        let answer = r#"{"choices":[{"finish_reason":"error","message":{"content":"x"}}],"error":{"code":502}}"#;
        assert_eq!(unspoken(answer, None), r#"{"choices":[{"finish_reason":"error"}],"error":{"code":502}}"#);
        let chunks = r#"[{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]},{"usage":1}]"#;
        assert_eq!(unspoken(chunks, Some(200)), r#"[{"candidates":[{"finishReason":"STOP"}]},{"usage":1}]"#);
        for other in ["", "content", "{", r#"{"message":"no","content":"x"}"#, r#"{"error":{"message":"x"}}"#] {
            assert_eq!(unspoken(other, None), other);
        }
    }

    #[test]
    fn a_server_s_sentence_is_no_answer_whatever_stands_beside_it() {
        for error in [
            r#"{"choices":[],"message":"slow down","object":"error"}"#,
            r#"{"content":"slow down","choices":[],"object":"error"}"#,
            r#"{"output":null,"finish_reason":"","message":"no"}"#,
            r#"{"message":"no","finish_reason":"ERROR","text":"why"}"#,
            r#"{"content":[],"detail":"no","text":"why"}"#,
        ] {
            assert_eq!(unspoken(error, None), error);
        }
        let half = r#"{"choices":[{"message":{"content":"x"}}],"message":"slow down","text":"y"}"#;
        assert_eq!(unspoken(half, None), r#"{"choices":[{}],"message":"slow down"}"#);
        assert_eq!(unspoken(half, Some(500)), r#"{"choices":[{}],"message":"slow down","text":"y"}"#);
        let cohere = r#"{"message":{"content":[]},"finish_reason":"ERROR"}"#;
        assert_eq!(unspoken(cohere, None), r#"{"finish_reason":"ERROR"}"#);
        let responses = r#"{"object":"response","output":[],"instructions":"rate limit"}"#;
        assert_eq!(unspoken(responses, None), r#"{"object":"response"}"#);
        let well = r#"{"code":0,"message":"ok","choices":[],"text":"y"}"#;
        assert_eq!(unspoken(well, None), r#"{"choices":[],"code":0,"message":"ok"}"#);
    }
}
