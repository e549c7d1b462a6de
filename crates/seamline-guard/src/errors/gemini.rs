//! Google's Gemini API, also through Vertex AI.

use super::Family;
use crate::kinds::{content, pairing, reasoning, service, shape};
use crate::known::{code, sentence, sort};

pub(super) const FAMILY: Family = Family {
    name: "gemini",
    aliases: &[
        "google",
        "google-ai-studio",
        "vertex-gemini",
        "gemini-interactions",
        "vertex-interactions",
        "gemini-chat",
        "gemini-openai",
    ],
    dialects: &["gemini_generate", "gemini_interactions"],
    errors: &[
        sentence(
            "Gemini practices",
            400,
            &content::CONTENT_FILTERED,
            r"violates? (?:Google|Vertex AI)'s (?:Responsible AI practices|usage guidelines)",
        ),
        code(
            "GEM-14",
            200,
            &content::CONTENT_FILTERED,
            r#"blockReason["'] ?: ?["'](?:SAFETY|OTHER|BLOCKLIST|PROHIBITED_CONTENT|IMAGE_SAFETY|MODEL_ARMOR|JAILBREAK)"#,
        ),
        code(
            "GEM-15",
            200,
            &content::RESPONSE_FILTERED,
            r#"finishReason["'] ?: ?["'](?:SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_\w+)"#,
        ),
        sentence(
            "GEM-21",
            400,
            &content::CONTEXT_OVERFLOW,
            r"input token count.{0,40} exceeds the maximum number of tokens",
        ),
        // Calls and results.
        sentence(
            "GEM-2",
            400,
            &pairing::UNEQUAL_RESULTS,
            r"number of function response parts is equal to the number of function call parts",
        ),
        sentence("GEM-3", 400, &pairing::CALL_OUT_OF_ORDER, r"function call turn comes immediately after a user turn"),
        sentence(
            "GEM-4",
            400,
            &pairing::ORPHAN_RESULT,
            r"function response turn comes immediately after a function call turn",
        ),
        sentence(
            "GEM-7",
            400,
            &pairing::RESULT_NAME,
            r"function_(?:response|call)\.name: (?:Name cannot be empty|\[?FIELD_INVALID)",
        ),
        sentence("GEM-7", 400, &pairing::ILLEGAL_TOOL_NAME, r"Invalid function name"),
        sentence(
            "GEM-1",
            400,
            &pairing::CALL_INPUT,
            r"Invalid value at 'contents\[\d+\]\.parts\[\d+\]\.function_call\.args'",
        ),
        // Steps of the Interactions API.
        sentence(
            "adk-python#4381",
            400,
            &pairing::ORPHAN_RESULT,
            r"Missing call_id in content of type function_result",
        ),
        sentence("inspect-robots#380", 400, &pairing::RESULT_NAME, r"Missing name in content of type function_result"),
        sentence(
            "Freyja, wire notes",
            400,
            &shape::MISSING_CONTENT,
            r"'result' must be a Struct, FunctionResultSubcontent",
        ),
        sentence(
            "GEM-1",
            400,
            &shape::UNKNOWN_FIELD,
            r#"Unknown name \\*"[^"\n]{1,200}": Cannot find field|Unknown name \\*"[^"\n]{1,200}" at '"#,
        ),
        // Messages and thinking.
        sentence(
            "GEM-1",
            400,
            &shape::CONTENT_FORM,
            r"Invalid value at 'contents\[\d+\]\.parts(?:'|\[\d+\]\.function_response\.response)",
        ),
        sentence(
            "GEM-5",
            400,
            &shape::EMPTY_MESSAGE,
            r"contents\.parts must not be empty|must include at least one parts? field",
        ),
        sentence("GEM-6", 400, &shape::UNSUPPORTED_ROLE, r"Please use a valid role"),
        sentence("GEM-9", 400, &reasoning::MISSING_SIGNATURE, r"missing a [`'\x22]?thought_signature"),
        sentence(
            "GEM-12",
            400,
            &reasoning::FOREIGN_SIGNATURE,
            r"(?i)corrupted thought signature|thought signature is not valid",
        ),
        // The account, the service, the response.
        sentence("GEM-23", 400, &service::NOT_ALLOWED, r"API key not valid"),
        code("GEM-23", 400, &service::NOT_ALLOWED, r"API_KEY_INVALID"),
        code(
            "GEM-16",
            200,
            &service::MALFORMED_CALL,
            r#"finishReason["'] ?: ?["'](?:MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MALFORMED_RESPONSE|OTHER)"#,
        ),
        code("GEM-16", 200, &service::MALFORMED_CALL, r"MALFORMED_FUNCTION_CALL"),
        sentence("GEM-22", 429, &service::RATE_LIMITED, r"Please retry in \d"),
        code(
            "GEM-22",
            429,
            &service::RATE_LIMITED,
            r#"quotaId["'] ?: ?["']\w*Per(?:Minute|Day)[\w-]*|retryDelay["'] ?: ?["'][\d.]+s"#,
        ),
        sentence("GEM-20", 503, &service::OVERLOADED, r#"The model is overloaded(?:[.!"']| ?$)"#),
        sort(
            "GEM-20",
            503,
            &service::SERVER_FAILED,
            r#"status["'] ?: ?["'](?:UNAVAILABLE|INTERNAL|DEADLINE_EXCEEDED)"#,
        ),
        sort("GEM-20", 429, &service::RATE_LIMITED, r#"status["'] ?: ?["']RESOURCE_EXHAUSTED"#),
        sort("GEM-23", 403, &service::NOT_ALLOWED, r"PERMISSION_DENIED"),
    ],
    ..Family::NONE
};
