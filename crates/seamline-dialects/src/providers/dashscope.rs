//! DashScope, who serve Qwen.

use seamline_model::{Arguments, Constraints, ErrorText};

use super::Provider;
use crate::openai_chat;

/// DashScope's compatible endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "dashscope",
    company: "dashscope",
    aliases: &["qwen", "alibaba"],
    about: "DashScope's Chat Completions (Qwen): arguments must be JSON",
    dialect: openai_chat::NAME,
    // Qwen's open models have names such as `qwen3:8b` or `qwen/qwen3-32b` elsewhere.
    models: &[
        "qwen#",
        "qwen-max",
        "qwen-plus",
        "qwen-turbo",
        "qwen-flash",
        "qwen-long",
        "qwen-vl",
        "qwen-coder",
        "qwq-",
    ],
    fallback: false,
    constraints: Constraints {
        // QWN-1, observed: a position where OpenAI has ids.
        unanswered: ErrorText(
            "<400> InternalError.Algo.InvalidParameter: An assistant message with \"tool_calls\" must be followed by tool \
             messages responding to each \"tool_call_id\". The following tool_call_ids did not have response messages: \
             message[{message}].role",
        ),
        // QWN-2, observed.
        orphan: ErrorText(
            "InternalError.Algo.InvalidParameter: messages with role \"tool\" must be a response to a preceeding message \
             with \"tool_calls\".",
        ),
        // QWN-2: a second result answers no open call.
        duplicate_result: ErrorText(
            "InternalError.Algo.InvalidParameter: messages with role \"tool\" must be a response to a preceeding message \
             with \"tool_calls\".",
        ),
        // QWN-3, observed. X-7: an object.
        arguments: Arguments::Object {
            empty: false,
            error: ErrorText(
                "<400> InternalError.Algo.InvalidParameter: The \"function.arguments\" parameter of the code model must \
                 be in JSON format.",
            ),
        },
        ..openai_chat::COMPATIBLE
    },
};
