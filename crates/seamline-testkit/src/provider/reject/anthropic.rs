//! The words of Anthropic.

use serde_json::{Value, json};

use super::{Case, Words};
use crate::provider::Reply;
use crate::strict::{ViolationKind as K, ident::is_word, wire};

/// ANT-1 to ANT-37.
pub(crate) fn words(case: &Case<'_>) -> Words {
    let at = case.at;
    let is_kind = |kind: &'static str| move |block: &Value| wire::kind(block) == kind;
    let (call, _) = case.block(is_kind("tool_use"));
    let (result, _) = case.block(is_kind("tool_result"));
    Words::of(match case.kind {
        K::NoMessages => "messages: at least one message is required".to_owned(),
        K::Malformed => malformed(case),
        K::UnknownRole => format!("messages.{at}.role: Input should be 'user' or 'assistant'"),
        K::BadContent => match case.message.get("content") {
            None => format!("messages.{at}.content: Field required"),
            Some(_) => format!("messages.{at}.content: Input should be a valid list"),
        },
        K::EmptyContent => {
            format!(
                "messages.{at}: all messages must have non-empty content except for the optional final assistant message"
            )
        }
        K::EmptyText => empty_text(case),
        K::CallInWrongRole => format!("messages.{at}: `tool_use` blocks can only be in `assistant` messages"),
        K::ResultInWrongRole => format!("messages.{at}: `tool_result` blocks can only be in `user` messages"),
        K::UnansweredCall => unanswered(at, &case.unanswered()),
        // ANT-9: the provider does not look for results behind other blocks.
        K::ResultNotLeading => {
            let before = at.checked_sub(1).and_then(|before| case.messages.get(before));
            let calls = before.map(|before| case.call_ids(before)).unwrap_or_default();
            unanswered(at.saturating_sub(1), &calls)
        }
        K::OrphanResult => format!(
            "messages.{at}.content.{result}: unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` \
             block must have a corresponding `tool_use` block in the previous message.",
            case.orphan()
        ),
        K::DuplicateResult => format!(
            "messages.{at}.content.{result}: each tool_use must have a single result. Found multiple `tool_result` blocks \
             with id: {}",
            case.repeated_result()
        ),
        K::DuplicateCallId => format!("messages.{at}.content.{call}: `tool_use` ids must be unique"),
        K::BadCallId => identifier(case, "tool_use", "id", "^[a-zA-Z0-9_-]+$"),
        K::BadResultId => identifier(case, "tool_result", "tool_use_id", "^[a-zA-Z0-9_-]+$"),
        K::BadToolName => identifier(case, "tool_use", "name", "^[a-zA-Z0-9_-]{1,128}$"),
        K::BadInput => {
            let is_wrong = |block: &Value| wire::kind(block) == "tool_use" && !block["input"].is_object();
            let (block, _) = case.block(is_wrong);
            format!("messages.{at}.content.{block}.tool_use.input: Input should be a valid dictionary")
        }
        K::OrphanServerResult => orphan_server_result(case),
        K::UnansweredServerCall => {
            let (_, block) = case.block(is_kind("server_tool_use"));
            let name = wire::string(block, "name").unwrap_or("web_search");
            let id = wire::string(block, "id").unwrap_or_default();
            format!(
                "messages.{at}: `{name}` tool use with id `{id}` was found without a corresponding `{name}_tool_result` block"
            )
        }
        _ => format!("messages.{at}.content.{result}.tool_result.content: Input should be a valid list"),
    })
}

/// The words for bytes that are not JSON.
pub(crate) fn not_json(error: &serde_json::Error) -> String {
    format!("The request body is not valid JSON: {error} (char {})", error.column())
}

/// The response with these words.
pub(crate) fn reply(words: &Words) -> Reply {
    let error = json!({"type": "invalid_request_error", "message": words.message});
    Reply::json(400, &json!({"type": "error", "error": error, "request_id": "req_probe"}))
}

fn unanswered(at: usize, ids: &[String]) -> String {
    format!(
        "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block \
         must have a corresponding `tool_result` block in the next message.",
        ids.join(", ")
    )
}

fn malformed(case: &Case<'_>) -> String {
    let at = case.at;
    if !case.message.is_object() {
        return format!("messages.{at}: Input should be a valid dictionary or object to extract fields from");
    }
    let is_wordless = |block: &Value| wire::kind(block) == "text" && !block["text"].is_string();
    let (block, held) = case.block(|block| wire::kind(block).is_empty() || is_wordless(block));
    match held.get("text") {
        _ if !held.is_object() => format!("messages.{at}.content.{block}: Input should be an object"),
        _ if wire::kind(held).is_empty() => format!("messages.{at}.content.{block}.type: Field required"),
        None => format!("messages.{at}.content.{block}.text.text: Field required"),
        Some(_) => format!("messages.{at}.content.{block}.text.text: Input should be a valid string"),
    }
}

fn empty_text(case: &Case<'_>) -> String {
    let (_, block) = case.block(|block| wire::string(block, "text").is_some_and(|text| text.trim().is_empty()));
    match wire::string(block, "text") {
        Some(text) if !text.is_empty() => "messages: text content blocks must contain non-whitespace text".to_owned(),
        _ => "messages: text content blocks must be non-empty".to_owned(),
    }
}

fn identifier(case: &Case<'_>, kind: &str, key: &str, pattern: &str) -> String {
    let is_wrong = |block: &Value| wire::kind(block) == kind && !is_word(block.get(key), usize::MAX);
    let (block, held) = case.block(is_wrong);
    let place = format!("messages.{}.content.{block}.{kind}.{key}", case.at);
    match held.get(key) {
        None if held.is_object() => format!("{place}: Field required"),
        Some(value) if !value.is_string() => format!("{place}: Input should be a valid string"),
        _ => format!("{place}: String should match pattern '{pattern}'"),
    }
}

fn orphan_server_result(case: &Case<'_>) -> String {
    let is_result = |block: &Value| wire::kind(block).ends_with("_tool_result");
    let (index, block) = case.block(is_result);
    let (kind, id) = (wire::kind(block), wire::string(block, "tool_use_id").unwrap_or_default());
    format!(
        "messages.{}.content.{index}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each `{kind}` block must have \
         a corresponding `server_tool_use` block before it.",
        case.at
    )
}
