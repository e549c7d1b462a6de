//! Cohere.

use super::Family;
use crate::kinds::{content, pairing, service, shape};
use crate::known::{broad, code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "cohere",
    aliases: &["cohere-v2"],
    dialects: &[],
    errors: &[
        sentence("COH-3", 400, &shape::MIXED_BLOCKS, r"cannot specify both message and tool_results"),
        sentence("COH-3", 400, &shape::EMPTY_MESSAGE, r"all elements in history must have a message"),
        sentence(
            "X-3",
            400,
            &content::CONTEXT_OVERFLOW,
            r"too many tokens: (?:total number of tokens|size limit exceeded)",
        ),
        code("COH-5", 200, &content::ANSWER_FILTERED, r#"finish_reason["'] ?: ?["']ERROR_TOXIC"#),
        code("COH-5", 200, &service::SERVER_FAILED, r#"finish_reason["'] ?: ?["']ERROR"#),
        code("COH-5", 200, &service::TIMED_OUT, r#"finish_reason["'] ?: ?["']TIMEOUT"#),
        broad("COH-2", &pairing::UNEQUAL_RESULTS, r"invalid request: [^\n]{0,140}tool (?:call|result|message)"),
    ],
};
