//! llama.cpp, LM Studio and other servers that run a model's own chat template.
//!
//! A template raises its complaint while it renders the prompt, so the status is often 500. The complaint is about the
//! conversation, and the same conversation gets it again.

use super::Family;
use crate::kinds::{pairing, reasoning, shape};
use crate::known::sentence;

pub(super) const FAMILY: Family = Family {
    name: "llama-cpp",
    aliases: &["llama.cpp", "llamacpp", "llama-server", "lm-studio", "lmstudio"],
    errors: &[
        sentence(
            "local templates",
            500,
            &pairing::ILLEGAL_CALL_ID,
            r"(?i)tool call ids should be alphanumeric strings with length 9",
        ),
        sentence(
            "local templates",
            500,
            &reasoning::UNWANTED_REASONING,
            r"Cannot pass both content and thinking in an assistant message with tool calls",
        ),
        sentence(
            "local templates",
            500,
            &shape::MISPLACED_SYSTEM,
            r"(?i)system message must (?:be at the beginning|come first|be (?:the )?first)",
        ),
        sentence(
            "local templates",
            400,
            &shape::CONSECUTIVE_ROLES,
            r"Cannot have 2 or more assistant messages at the end of the list",
        ),
        // The server reads members with a JSON library, whose exceptions name the type that a member must have.
        sentence(
            "llama.cpp",
            500,
            &shape::MISSING_CONTENT,
            r"\[json\.exception\.type_error\.\d+\] type must be \w+, but is null",
        ),
        sentence(
            "llama.cpp",
            500,
            &shape::WRONG_MEMBER,
            r"\[json\.exception\.type_error\.\d+\] type must be \w+, but is",
        ),
        sentence(
            "llama.cpp",
            500,
            &shape::MISSING_CONTENT,
            r"Failed to parse messages: [^\n]{0,40}[Mm]issing '(?:content|tool_calls)'|Failed to parse messages: [^\n]{0,40}[Ee]xpected '(?:content|tool_calls)'",
        ),
        sentence("llama.cpp", 500, &shape::WRONG_MEMBER, r"Failed to parse messages: "),
        sentence("local templates", 500, &shape::NO_USER_MESSAGE, r"(?i)no user query found in messages"),
        sentence(
            "local templates",
            500,
            &shape::UNSUPPORTED_ROLE,
            r"(?i)only (?:system, )?user(?:, \w+){0,4},? (?:and|or) \w+ roles are supported|system role not supported|(?:jinja exception: |jinja template: \\*\x22)(?:unexpected|unknown|invalid) (?:message )?role",
        ),
    ],
    ..Family::NONE
};
