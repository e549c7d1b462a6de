//! xAI.

use super::Family;
use crate::kinds::{content, shape};
use crate::known::sentence;

pub(super) const FAMILY: Family = Family {
    name: "xai",
    aliases: &["grok", "x-ai"],
    errors: &[
        // Status 403 looks like a wrong key.
        sentence(
            "XAI-2",
            403,
            &content::CONTENT_FILTERED,
            r"Content violates usage guidelines|SAFETY_CHECK_TYPE_[A-Z]",
        ),
        sentence("XAI-6", 400, &content::CONTEXT_OVERFLOW, r"maximum prompt length is \d+"),
        sentence("XAI-1", 400, &shape::EMPTY_MESSAGE, r"Each message must have at least one content element"),
    ],
    ..Family::NONE
};
