//! The shape of an answer: what its provider says about it, and what the model said in it.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// One answer, or the chunks of one that came as a list.
pub(crate) fn chunks(body: &Value) -> impl Iterator<Item = &Value> {
    let list = body.as_array().map_or(std::slice::from_ref(body), Vec::as_slice);
    list.iter().filter(|chunk| chunk.is_object())
}

/// Whether a body has the shape of an answer.
pub(crate) fn is_answer(body: &Value) -> bool {
    let list = |name| body.get(name).is_some_and(Value::is_array);
    let word = |name| body.get(name).is_some_and(Value::is_string);
    list("choices")
        || list("candidates")
        || list("content")
        || list("output")
        || body.get("output").is_some_and(Value::is_object)
        || word("stop_reason")
        || word("stopReason")
        || word("finish_reason")
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
/// arguments and prose is nobody's error.
pub(crate) fn unspoken(text: &str) -> Cow<'_, str> {
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
    list.iter_mut().filter_map(Value::as_object_mut).for_each(hush);
    Cow::Owned(body.to_string())
}

fn hush(answer: &mut Map<String, Value>) {
    answer.retain(|name, _| !SPOKEN.contains(&name.as_str()));
    for name in LISTS {
        let list = answer.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten();
        for inner in list.filter_map(Value::as_object_mut) {
            inner.retain(|name, _| !SPOKEN.contains(&name.as_str()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_provider_says_is_left_of_an_answer() {
        let answer = r#"{"choices":[{"finish_reason":"error","message":{"content":"x"}}],"error":{"code":502}}"#;
        assert_eq!(unspoken(answer), r#"{"choices":[{"finish_reason":"error"}],"error":{"code":502}}"#);
        let chunks = r#"[{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]},{"usage":1}]"#;
        assert_eq!(unspoken(chunks), r#"[{"candidates":[{"finishReason":"STOP"}]},{"usage":1}]"#);
        for other in ["", "content", "{", r#"{"message":"no","content":"x"}"#, r#"{"error":{"message":"x"}}"#] {
            assert_eq!(unspoken(other), other);
        }
    }
}
