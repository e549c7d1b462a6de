//! Alibaba's DashScope and its Qwen models.

use super::Family;
use crate::kinds::{content, pairing};
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "dashscope",
    aliases: &["qwen", "alibaba"],
    errors: &[
        sentence(
            "QWN-4",
            400,
            &content::EITHER_FILTERED,
            r"(?i)input or output data may contain inappropriate content",
        ),
        sentence(
            "QWN-4",
            400,
            &content::RESPONSE_FILTERED,
            r"(?i)output (?:text |image )?data may contain inappropriate",
        ),
        sentence("QWN-4", 400, &content::CONTENT_FILTERED, r"(?i)data may contain inappropriate content"),
        code("QWN-4", 400, &content::EITHER_FILTERED, r"(?i:data_?inspection_?failed)"),
        sentence(
            "QWN-1",
            400,
            &pairing::UNANSWERED_CALL,
            r"(?i)assistant message with ['\x22`]?tool_calls['\x22`]? must be followed by tool messages",
        ),
        sentence(
            "QWN-2",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)role ['\x22`]?tool['\x22`]? must be a response to a prece+ding message",
        ),
        sentence("QWN-3", 400, &pairing::CALL_INPUT, r"function\.arguments.{0,40}must be in JSON format"),
    ],
    ..Family::NONE
};
