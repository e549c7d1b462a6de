//! OpenRouter, which forwards the errors of other providers.

use super::Family;
use crate::kinds::{content, service, shape};
use crate::known::{broad, code, sentence, sort, wrapper};

pub(super) const FAMILY: Family = Family {
    name: "openrouter",
    aliases: &[],
    dialects: &[],
    errors: &[
        sentence("OpenRouter 403", 403, &content::CONTENT_FILTERED, r"requires moderation[^\n]{0,80}input was flagged"),
        code("OpenRouter 403", 403, &content::CONTENT_FILTERED, r"flagged_input"),
        sentence("ORT-6", 404, &service::UNSUPPORTED_FEATURE, r"No endpoints found"),
        sentence("ORT-6", 402, &service::OUT_OF_QUOTA, r"Insufficient credits"),
        code(
            "ORT-3",
            400,
            &content::CONTEXT_OVERFLOW,
            r#"error_type["'] ?: ?["'](?:context_length_exceeded|max_tokens_exceeded|token_limit_exceeded)"#,
        ),
        code(
            "ORT-3",
            400,
            &content::CONTENT_FILTERED,
            r#"error_type["'] ?: ?["'](?:content_policy_violation|refusal)"#,
        ),
        code("ORT-6", 402, &service::OUT_OF_QUOTA, r"payment_required"),
        sort("ORT-3", 401, &service::NOT_ALLOWED, r#"error_type["'] ?: ?["'](?:authentication|permission_denied)"#),
        sort("ORT-3", 429, &service::RATE_LIMITED, r#"error_type["'] ?: ?["']rate_limit_exceeded"#),
        sort(
            "ORT-3",
            502,
            &service::SERVER_FAILED,
            r#"error_type["'] ?: ?["'](?:provider_overloaded|provider_unavailable|server)"#,
        ),
        sort("ORT-3", 504, &service::TIMED_OUT, r#"error_type["'] ?: ?["']timeout"#),
        // In the middle of a stream; a known status inside says more.
        broad(
            "ORT-2",
            &service::SERVER_FAILED,
            r#"["']finish_reason["'] ?: ?["']error["']|["']choices["'] ?: ?\[\] ?, ?["']error["'] ?:"#,
        ),
        wrapper("ORT-1", &shape::REJECTED_BODY, r"Provider returned error"),
    ],
};
