//! The words of `OpenAI`'s Responses.

use serde_json::Value;

use super::{Case, Words, type_name};
use crate::strict::{ViolationKind as K, wire};

/// The most characters of an id.
const ID_CHARS_MAX: usize = 64;

/// OAR-1 to OAR-17.
pub(crate) fn words(case: &Case<'_>) -> Words {
    let at = format!("input[{}]", case.at);
    let call_id = wire::string(case.message, "call_id").unwrap_or_default();
    match case.kind {
        K::NoMessages => Words::about("Missing required parameter: 'input'.", "input", "missing_required_parameter"),
        K::UnknownRole => Words::about(
            format!(
                "Invalid value: '{}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
                case.role()
            ),
            format!("{at}.role"),
            "invalid_value",
        ),
        K::BadContent => content(case, &at),
        K::BadResultContent => wrong(case, format!("{at}.output"), "output", "one of an array of objects or string"),
        K::UnansweredCall => {
            let message = format!("No tool output found for {} {call_id}.", what(case.message));
            Words { param: "input".to_owned(), ..Words::of(message) }
        }
        K::OrphanResult | K::DuplicateResult | K::BadResultType => {
            let message = format!("No tool call found for {} with call_id {call_id}.", what(case.message));
            Words { param: "input".to_owned(), ..Words::of(message) }
        }
        K::DuplicateCallId => duplicate(case, "call_id"),
        K::DuplicateItemId => duplicate(case, "id"),
        K::BadResultId if wire::present(case.message, "call_id").is_none() => Words {
            param: "input".to_owned(),
            ..Words::of("Invalid Value: 'input.call_id'. Function call output requires call_id.")
        },
        K::BadCallId | K::BadResultId => identifier(case, format!("{at}.call_id"), "call_id"),
        K::BadToolName => name(case, format!("{at}.name")),
        K::BadInput => {
            let key = if wire::kind(case.message) == "custom_tool_call" { "input" } else { "arguments" };
            wrong(case, format!("{at}.{key}"), key, "a string")
        }
        K::BadItemId => item_id(case, format!("{at}.id")),
        K::DanglingReasoning => {
            let id = wire::string(case.message, "id").unwrap_or_default();
            let message = format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
            Words { param: "input".to_owned(), ..Words::of(message) }
        }
        K::EarlyTrigger => Words::about(
            format!("Invalid '{at}': an item of type 'compaction_trigger' must be the last item of the input."),
            at,
            "invalid_value",
        ),
        _ => {
            let got = type_name(Some(case.message));
            Words::about(
                format!("Invalid type for '{at}': expected an object, but got {got} instead."),
                at,
                "invalid_type",
            )
        }
    }
}

/// The type of an item in words: `function call output`.
fn what(item: &Value) -> String {
    wire::kind(item).replace('_', " ")
}

fn duplicate(case: &Case<'_>, key: &str) -> Words {
    let id = wire::string(case.message, key).unwrap_or_default();
    let message = format!("Duplicate item found with id {id}. Remove duplicate items from your input and try again.");
    Words { param: "input".to_owned(), ..Words::of(message) }
}

/// OAR-16.
fn content(case: &Case<'_>, at: &str) -> Words {
    let is_model = case.role() == "assistant";
    let legal: &[&str] =
        if is_model { &["output_text", "refusal"] } else { &["input_text", "input_image", "input_file"] };
    let (index, part) = case.block(|part| !legal.contains(&wire::kind(part)));
    if part.is_null() {
        return wrong(case, format!("{at}.content"), "content", "one of an array of objects or string");
    }
    let supported =
        if is_model { "'output_text' and 'refusal'" } else { "'input_text', 'input_image', and 'input_file'" };
    let message = format!("Invalid value: '{}'. Supported values are: {supported}.", wire::kind(part));
    Words::about(message, format!("{at}.content[{index}]"), "invalid_value")
}

fn wrong(case: &Case<'_>, at: String, key: &str, wanted: &str) -> Words {
    match case.message.get(key) {
        None => Words::about(format!("Missing required parameter: '{at}'."), at, "missing_required_parameter"),
        held => {
            let got = type_name(held);
            Words::about(
                format!("Invalid type for '{at}': expected {wanted}, but got {got} instead."),
                at,
                "invalid_type",
            )
        }
    }
}

/// OAR-13.
fn identifier(case: &Case<'_>, at: String, key: &str) -> Words {
    match wire::string(case.message, key).map(|id| id.chars().count()) {
        Some(0) => Words::about(
            format!(
                "Invalid '{at}': empty string. Expected a string with minimum length 1, but got an empty string instead."
            ),
            at,
            "empty_string",
        ),
        Some(count) => long(at, count),
        None => wrong(case, at, key, "a string"),
    }
}

fn long(at: String, count: usize) -> Words {
    let message = format!(
        "Invalid '{at}': string too long. Expected a string with maximum length {ID_CHARS_MAX}, but got a string with \
         length {count} instead."
    );
    Words::about(message, at, "string_above_max_length")
}

/// OAC-9.
fn name(case: &Case<'_>, at: String) -> Words {
    match case.message.get("name") {
        Some(Value::String(_)) => Words::about(
            format!(
                "Invalid '{at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            ),
            at,
            "invalid_value",
        ),
        _ => wrong(case, at, "name", "a string"),
    }
}

/// OAR-14, OAR-15.
fn item_id(case: &Case<'_>, at: String) -> Words {
    let Some(id) = wire::string(case.message, "id") else { return wrong(case, at, "id", "a string") };
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if id.is_empty() || !id.bytes().all(is_legal) {
        let message = format!(
            "Invalid '{at}': '{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value \
             contained additional characters."
        );
        return Words::about(message, at, "invalid_value");
    }
    if id.len() > ID_CHARS_MAX {
        return long(at, id.len());
    }
    let start = match wire::kind(case.message) {
        "function_call" => "fc",
        "custom_tool_call" => "ctc",
        "reasoning" => "rs",
        "compaction" => "cmp",
        _ => "msg",
    };
    Words::about(format!("Invalid '{at}': '{id}'. Expected an ID that begins with '{start}'."), at, "invalid_value")
}
