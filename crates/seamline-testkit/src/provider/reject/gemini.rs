//! The words of Google's generateContent.

use serde_json::{Value, json};

use super::{Case, Words};
use crate::provider::Reply;
use crate::strict::ViolationKind as K;

/// The members of a part that hold a call or a result.
const CALLS: [&str; 2] = ["functionCall", "function_call"];
const RESULTS: [&str; 2] = ["functionResponse", "function_response"];

/// GEM-1 to GEM-8.
pub(crate) fn words(case: &Case<'_>) -> Words {
    let at = case.at;
    let part = |names: [&str; 2], is_wrong: &dyn Fn(&Value) -> bool| {
        let (index, part) = case.block(|part| held(part, names).is_some_and(is_wrong));
        (index, held(part, names).unwrap_or(&Value::Null))
    };
    let request = format!("* GenerateContentRequest.contents[{at}]");
    Words::of(match case.kind {
        K::NoMessages => "* GenerateContentRequest.contents: contents is not specified".to_owned(),
        K::UnknownRole => "Please use a valid role: user, model.".to_owned(),
        K::EmptyContent => format!("{request}.parts: contents.parts must not be empty."),
        K::BadContent if case.message.get("parts").is_none() => {
            format!("{request}.parts: contents.parts must not be empty.")
        }
        K::BadContent => invalid(&format!("contents[{at}].parts"), "Part", &case.message["parts"]),
        K::BadInput => {
            let (index, call) = part(CALLS, &|call| call.get("args").is_some_and(|args| !args.is_object()));
            invalid(&format!("contents[{at}].parts[{index}].function_call.args"), "Struct", &call["args"])
        }
        K::BadResultContent => {
            let (index, result) = part(RESULTS, &|held| held.get("response").is_some_and(|held| !held.is_object()));
            let at = format!("contents[{at}].parts[{index}].function_response.response");
            invalid(&at, "Struct", &result["response"])
        }
        K::BadToolName => {
            let (index, call) = part(CALLS, &|_| true);
            match call["name"].as_str() {
                None | Some("") => format!("{request}.parts[{index}].function_call.name: Name cannot be empty."),
                Some(name) => format!(
                    "{request}.parts[{index}].function_call.name: Invalid function name {name}. Must start with a letter or \
                     an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes \
                     (-), with a maximum length of 128."
                ),
            }
        }
        K::BadResultName => {
            let (index, _) = part(RESULTS, &|result| result["name"].as_str().is_none_or(str::is_empty));
            format!("{request}.parts[{index}].function_response.name: Name cannot be empty.")
        }
        K::UnansweredCall | K::DuplicateResult => "Please ensure that the number of function response parts is equal to \
                                                   the number of function call parts of the function call turn."
            .to_owned(),
        K::OrphanResult | K::ResultInWrongRole => {
            "Please ensure that function response turn comes immediately after a function call turn.".to_owned()
        }
        K::CallInWrongRole | K::CallOutOfOrder => {
            "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
                .to_owned()
        }
        _ => invalid(&format!("contents[{at}].parts"), "Part", case.message),
    })
}

/// The words for bytes that are not JSON, also those of Interactions.
pub(crate) fn not_json(error: &serde_json::Error) -> String {
    let place = format!("line {} column {}", error.line(), error.column());
    format!("Invalid JSON payload received. Unexpected token.\n{place}\n^")
}

/// The response with these words.
pub(crate) fn reply(words: &Words) -> Reply {
    Reply::json(400, &json!({"error": {"code": 400, "message": words.message, "status": "INVALID_ARGUMENT"}}))
}

fn held<'p>(part: &'p Value, names: [&str; 2]) -> Option<&'p Value> {
    names.iter().find_map(|name| part.get(name))
}

fn invalid(at: &str, kind: &str, value: &Value) -> String {
    let package = if kind == "Struct" { "google.protobuf" } else { "google.ai.generativelanguage.v1beta" };
    format!("Invalid value at '{at}' (type.googleapis.com/{package}.{kind}), {value}")
}
