//! Moonshot's Kimi.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "moonshot",
    aliases: &["kimi", "moonshotai"],
    errors: &[
        sentence(
            "Kimi high risk",
            400,
            &content::CONTENT_FILTERED,
            r"request was rejected because it was considered high risk",
        ),
        code("Kimi high risk", 400, &content::EITHER_FILTERED, r#"type["'] ?: ?["']content_filter"#),
        sentence("KIM-10", 400, &content::CONTEXT_OVERFLOW, r"exceeded model token limit"),
        sentence("KIM-3", 400, &pairing::ORPHAN_RESULT, r"tool_call_id (?:\S{1,140} )?is not found"),
        sentence(
            "KIM-4",
            400,
            &reasoning::MISSING_REASONING,
            r"reasoning_content is missing in assistant tool call message",
        ),
        sentence("KIM-5", 400, &shape::EMPTY_MESSAGE, r"the message at position \d+ with role '\w+' must not be empty"),
        sentence("KIM-6", 400, &service::TOOL_DECLARATION, r"not a valid moonshot flavored json schema"),
    ],
    ..Family::NONE
};
