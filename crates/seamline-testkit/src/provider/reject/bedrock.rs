//! The words of Bedrock's Converse.

use serde_json::{Value, json};

use super::{Case, Words};
use crate::provider::Reply;
use crate::strict::{ViolationKind as K, ident::is_word};

/// BED-2 to BED-10.
pub(crate) fn words(case: &Case<'_>) -> Words {
    let at = case.at;
    let answers = at + 1;
    Words::of(match case.kind {
        K::NoMessages => constraint("[]", "messages", "Member must have length greater than or equal to 1"),
        K::UnknownRole => constraint(
            case.role(),
            &format!("messages.{answers}.member.role"),
            "Member must satisfy enum value set: [user, assistant]",
        ),
        K::EmptyContent | K::BadContent => format!(
            "The content field in the Message object at messages.{at} is empty. Add a ContentBlock object to the content \
             field and try again."
        ),
        K::EmptyText => {
            let (block, _) = case.block(|block| block["text"].as_str().is_some_and(|text| text.trim().is_empty()));
            format!(
                "The text field in the ContentBlock object at messages.{at}.content.{block} is blank. Add text to the text \
                 field, and try again."
            )
        }
        K::SameRole => "A conversation must alternate between user and assistant roles. Make sure the conversation \
                        alternates between user and assistant roles and try again."
            .to_owned(),
        K::UnansweredCall => format!(
            "Expected toolResult blocks at messages.{answers}.content for the following Ids: {}",
            case.unanswered().join(", ")
        ),
        K::OrphanResult | K::DuplicateResult | K::ResultInWrongRole => format!(
            "The number of toolResult blocks at messages.{at}.content exceeds the number of toolUse blocks of previous turn."
        ),
        K::DuplicateCallId => {
            format!("The toolUse blocks at messages.{at}.content contain duplicate Ids: {}", case.repeated_call())
        }
        K::CallInWrongRole => {
            format!("messages.{at}: `tool_use` blocks can only be in `assistant` messages")
        }
        K::BadCallId => identifier(case, "toolUse", "toolUseId"),
        K::BadResultId => identifier(case, "toolResult", "toolUseId"),
        K::BadToolName => identifier(case, "toolUse", "name"),
        K::BadInput => format(at, case.block(|block| is_off(&block["toolUse"], "input")).0, "toolUse.input"),
        K::BadResultContent => result_content(case),
        K::EmptyFailure => {
            let (block, _) = case.block(|block| block["toolResult"]["status"] == "error");
            format!(
                "The content field at messages.{at}.content.{block}.toolResult cannot be empty when status value is error."
            )
        }
        K::UndeclaredTools => {
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.".to_owned()
        }
        _ => format!("messages.{at}.content: Input should be an object"),
    })
}

/// The words for bytes that are not JSON.
pub(crate) fn not_json(error: &serde_json::Error) -> String {
    format!("Could not parse the request body as JSON: line {} column {}", error.line(), error.column())
}

/// The response with these words.
pub(crate) fn reply(words: &Words) -> Reply {
    Reply::json(400, &json!({"message": words.message})).with_header("x-amzn-errortype", "ValidationException")
}

fn is_off(held: &Value, key: &str) -> bool {
    held.is_object() && !held[key].is_object()
}

fn format(at: usize, block: usize, member: &str) -> String {
    format!(
        "The format of the value at messages.{at}.content.{block}.{member} is invalid. Provide a json object for the field \
         and try again."
    )
}

fn constraint(value: &str, at: &str, must: &str) -> String {
    format!("1 validation error detected: Value '{value}' at '{at}' failed to satisfy constraint: {must}")
}

/// BED-2, BED-3. The paths of this validator count from one.
fn identifier(case: &Case<'_>, kind: &str, key: &str) -> String {
    let is_wrong = |block: &Value| block[kind].is_object() && !is_word(block[kind].get(key), 64);
    let (block, held) = case.block(is_wrong);
    let at = format!("messages.{}.member.content.{}.member.{kind}.{key}", case.at + 1, block + 1);
    let pattern = if key == "name" { "[a-zA-Z0-9_-]+" } else { "[a-zA-Z0-9_.:-]+" };
    match held[kind].get(key).and_then(Value::as_str) {
        None => constraint("null", &at, "Member must not be null"),
        Some(value) if value.len() > 64 => constraint(value, &at, "Member must have length less than or equal to 64"),
        Some(value) => constraint(value, &at, &format!("Member must satisfy regular expression pattern: {pattern}")),
    }
}

fn result_content(case: &Case<'_>) -> String {
    let is_part = |part: &Value| part.is_object() && part.get("json").is_none_or(Value::is_object);
    let is_wrong = |block: &Value| {
        let parts = block["toolResult"]["content"].as_array();
        block["toolResult"].is_object() && !parts.is_some_and(|parts| parts.iter().all(is_part))
    };
    let (block, held) = case.block(is_wrong);
    let parts = held["toolResult"]["content"].as_array();
    let part = parts.and_then(|parts| parts.iter().position(|part| !is_part(part))).unwrap_or_default();
    format(case.at, block, &format!("toolResult.content.{part}.json"))
}
