//! Groq.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "groq",
    aliases: &[],
    errors: &[
        sentence(
            "GRQ-5",
            413,
            &content::BODY_TOO_LARGE,
            r"Request too large for model|Please reduce the length of the messages",
        ),
        // A mistake of the model, although the status blames the request.
        sentence(
            "GRQ-2",
            400,
            &service::MALFORMED_CALL,
            r"Failed to call a function\. Please adjust|[Tt]ool call validation failed|attempted to call tool '[^']*' which was not in request\.tools",
        ),
        code("GRQ-2", 400, &service::MALFORMED_CALL, r"tool_use_failed"),
        sentence("GRQ-3", 400, &service::UNKNOWN_TOOL, r"requested tool does not exist"),
        sentence("GRQ-1", 400, &reasoning::UNWANTED_REASONING, r"property '[\w.]*reasoning\w*' is unsupported"),
        sentence("GRQ-1", 400, &shape::UNKNOWN_FIELD, r"property '[\w.]*' is unsupported"),
        sentence("GRQ-1", 400, &pairing::UNADDRESSED_RESULT, r"[`']tool_call_id[`'] is missing"),
        sentence("GRQ-1", 400, &shape::MISSING_MEMBER, r"property '[\w.]*' is missing"),
        sentence("GRQ-6", 400, &shape::CONTENT_FORM, r"'messages\.\d+\.content' must be a string"),
        code("GRQ-4", 200, &service::SERVER_FAILED, r#"x_groq["'] ?: ?\{[^}]*["']error["'] ?: ?"#),
    ],
    ..Family::NONE
};
