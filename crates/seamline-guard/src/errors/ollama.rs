//! Ollama.

use super::Family;
use crate::kinds::{pairing, service, shape};
use crate::known::sentence;

pub(super) const FAMILY: Family = Family {
    name: "ollama",
    aliases: &[],
    errors: &[
        sentence("OLL-2", 400, &pairing::CALL_INPUT, r"invalid tool call arguments"),
        sentence("OLL-3", 400, &shape::MISSING_CONTENT, r"invalid message content type"),
        sentence("OLL-8", 500, &service::MALFORMED_CALL, r"error parsing tool call: raw="),
        sentence(
            "OLL-9",
            400,
            &service::UNSUPPORTED_FEATURE,
            r"[\w./:-]+\x22? does not support (?:tools|thinking)(?:$|[\x22'.,}])",
        ),
        sentence("OLL-10", 400, &pairing::MISSING_CALL_ID, r"tool_use block missing required 'id' field"),
        sentence("OLL-10", 400, &pairing::ILLEGAL_TOOL_NAME, r"tool_use block missing required 'name' field"),
    ],
    ..Family::NONE
};
