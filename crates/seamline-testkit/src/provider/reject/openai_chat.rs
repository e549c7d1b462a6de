//! The words of `OpenAI`'s Chat Completions.

use serde_json::{Value, json};

use super::{Case, Words, type_name};
use crate::provider::Reply;
use crate::strict::{ViolationKind as K, ident::is_word, wire};

/// OAC-1 to OAC-9.
pub(crate) fn words(case: &Case<'_>) -> Words {
    let param = format!("messages.[{}]", case.at);
    match case.kind {
        K::NoMessages => Words::about(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            "messages",
            "empty_array",
        ),
        K::Malformed | K::BadCallList => wrong_type(case, if case.kind == K::Malformed { "" } else { ".tool_calls" }),
        K::UnknownRole => {
            let at = format!("messages[{}].role", case.at);
            let message = format!("Unsupported value: '{at}' does not support '{}' with this model.", case.role());
            Words::about(message, at, "unsupported_value")
        }
        K::BadContent => {
            let got = type_name(case.message.get("content"));
            let message = format!("Invalid value for 'content': expected a string, got {got}.");
            Words { param: format!("messages.[{}].content", case.at), ..Words::of(message) }
        }
        K::BadResultContent => result_content(case),
        K::CallInWrongRole => Words { param, ..Words::of("only messages with role 'assistant' can have 'tool_calls'") },
        K::UnansweredCall => {
            let message = format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                case.unanswered().join(", ")
            );
            Words { param, ..Words::of(message) }
        }
        K::OrphanResult | K::DuplicateResult => orphan(case, param),
        K::DuplicateCallId => {
            Words { param, ..Words::of(format!("Duplicate tool_call_id: '{}'.", case.repeated_call())) }
        }
        K::BadResultId => match case.message.get("tool_call_id") {
            None | Some(Value::Null) => Words {
                param,
                ..Words::of("Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.")
            },
            Some(id) => length(id, format!("messages[{}].tool_call_id", case.at)),
        },
        K::BadCallId | K::BadToolName | K::BadInput => call(case),
        _ => Words::about(
            format!(
                "Invalid 'messages[{}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty \
                 array instead.",
                case.at
            ),
            format!("messages[{}].tool_calls", case.at),
            "empty_array",
        ),
    }
}

/// The words for bytes that are not JSON.
pub(crate) fn not_json(_: &serde_json::Error) -> String {
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library \
     correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring \
     out how to fix this, please contact us through our help center at help.openai.com.)"
        .to_owned()
}

/// The response with these words, also that of Responses.
pub(crate) fn reply(words: &Words) -> Reply {
    let param = Some(words.param.as_str()).filter(|param| !param.is_empty());
    let error = json!({"message": words.message, "type": "invalid_request_error", "param": param, "code": words.code});
    Reply::json(400, &json!({"error": error}))
}

fn wrong_type(case: &Case<'_>, member: &str) -> Words {
    let at = format!("messages[{}]{member}", case.at);
    let (wanted, held) = match member {
        "" => ("an object", Some(case.message)),
        _ => ("an array of objects", case.message.get("tool_calls")),
    };
    let message = format!("Invalid type for '{at}': expected {wanted}, but got {} instead.", type_name(held));
    Words::about(message, at, "invalid_type")
}

fn result_content(case: &Case<'_>) -> Words {
    let content = case.message.get("content");
    if content.is_some_and(Value::is_array) {
        let message = "Image URLs are only allowed for messages with role 'user', but this message with role 'tool' \
                       contains an image URL; messages with role 'tool' can only contain text";
        return Words { param: format!("messages.[{}].content", case.at), ..Words::of(message) };
    }
    let message = format!("Invalid value for 'content': expected a string, got {}.", type_name(content));
    Words { param: format!("messages.[{}].content", case.at), ..Words::of(message) }
}

/// OAC-3 behind a message without calls, OAC-4 behind calls.
fn orphan(case: &Case<'_>, param: String) -> Words {
    let before = case.messages[..case.at.min(case.messages.len())].iter().rev();
    let opener = before.into_iter().find(|message| wire::role(message) != "tool");
    let has_calls = opener.is_some_and(|opener| !case.call_ids(opener).is_empty());
    let message = if has_calls {
        format!(
            "Invalid parameter: 'tool_call_id' of '{}' not found in 'tool_calls' of previous message.",
            case.orphan()
        )
    } else {
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            .to_owned()
    };
    Words { param, ..Words::of(message) }
}

fn call(case: &Case<'_>) -> Words {
    let calls = case.message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
    let is_wrong = |call: &Value| match case.kind {
        K::BadCallId => !call["id"].as_str().is_some_and(|id| (1..=40).contains(&id.chars().count())),
        K::BadToolName => !is_word(call["function"].get("name"), 64),
        _ => !call["function"]["arguments"].is_string(),
    };
    let index = calls.iter().position(is_wrong).unwrap_or_default();
    let call = calls.get(index).unwrap_or(&Value::Null);
    let at = format!("messages[{}].tool_calls[{index}]", case.at);
    let missing =
        |at: String| Words::about(format!("Missing required parameter: '{at}'."), at, "missing_required_parameter");
    let (at, held) = match case.kind {
        K::BadCallId => (format!("{at}.id"), &call["id"]),
        K::BadToolName => (format!("{at}.function.name"), &call["function"]["name"]),
        _ => (format!("{at}.function.arguments"), &call["function"]["arguments"]),
    };
    match case.kind {
        _ if held.is_null() && case.kind != K::BadInput => missing(at),
        K::BadCallId => length(held, at),
        K::BadToolName => Words::about(
            format!(
                "Invalid '{at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            ),
            at,
            "invalid_value",
        ),
        _ => {
            let got = type_name(Some(held));
            Words::about(
                format!("Invalid type for '{at}': expected a string, but got {got} instead."),
                at,
                "invalid_type",
            )
        }
    }
}

/// OAC-5.
fn length(id: &Value, at: String) -> Words {
    match id.as_str().map(|id| id.chars().count()) {
        Some(0) => Words::about(format!("Missing required parameter: '{at}'."), at, "missing_required_parameter"),
        Some(count) => Words::about(
            format!(
                "Invalid '{at}': string too long. Expected a string with maximum length 40, but got a string with length \
                 {count} instead."
            ),
            at,
            "string_above_max_length",
        ),
        None => {
            let got = type_name(Some(id));
            Words::about(
                format!("Invalid type for '{at}': expected a string, but got {got} instead."),
                at,
                "invalid_type",
            )
        }
    }
}
