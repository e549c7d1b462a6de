//! Reads an error by its text if the text is known, else by its status.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::classify::{Certainty, Failure};
use crate::kinds::{Class, Kind, content, service};
use crate::known::{Known, Weight};
use crate::patterns::compile;
use crate::views::Views;

/// The reading of an error.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) kind: &'static Kind,
    pub(crate) certainty: Certainty,
}

impl Reading {
    /// The reading of an unknown error: a person should look, and a blind retry would repeat it.
    const UNKNOWN: Self = Self { kind: &service::UNKNOWN, certainty: Certainty::Guess };

    /// Reads an error by its status and the provider's header about retries.
    pub(crate) fn of(status: Option<u16>, failure: &Failure<'_>) -> Self {
        let by_status = status.and_then(|status| kind(status, failure));
        match (should_retry(failure), by_status) {
            // The provider's header about retries overrides the status.
            (Some(true), Some(kind)) if kind.class == Class::Transient => Self::by(kind),
            (Some(true), _) => Self::by(&service::SERVER_FAILED),
            (Some(false), Some(kind)) if kind.class != Class::Transient => Self::by(kind),
            (None, Some(kind)) => Self::by(kind),
            (Some(false), _) | (None, None) => Self::UNKNOWN,
        }
    }

    /// Reads an error by its known text.
    pub(crate) fn known(known: &'static Known) -> Self {
        let is_only_wrapper = known.weight == Weight::Wrapper;
        let certainty = if is_only_wrapper { Certainty::Guess } else { Certainty::Known };
        Self { certainty, ..Self::by(known.kind) }
    }

    fn by(kind: &'static Kind) -> Self {
        Self { kind, certainty: Certainty::Status }
    }
}

/// Returns the kind of a status; `None` if the status has too many meanings.
fn kind(status: u16, failure: &Failure<'_>) -> Option<&'static Kind> {
    match status {
        401 | 403 => Some(&service::NOT_ALLOWED),
        402 => Some(&service::OUT_OF_QUOTA),
        404 => Some(&service::NOT_FOUND),
        408 | 504 => Some(&service::TIMED_OUT),
        425 => Some(&service::NETWORK_FAILED),
        409 => Some(&service::CONVERSATION_BUSY),
        413 => Some(&content::BODY_TOO_LARGE),
        // Only Bedrock reports a failed model with this status.
        424 if is_bedrock(failure) => Some(&service::SERVER_FAILED),
        429 => Some(&service::RATE_LIMITED),
        503 | 529 => Some(&service::OVERLOADED),
        500..=599 => Some(&service::SERVER_FAILED),
        _ => None,
    }
}

fn is_bedrock(failure: &Failure<'_>) -> bool {
    let is_provider = failure.provider.is_some_and(|provider| provider.to_ascii_lowercase().contains("bedrock"));
    is_provider || failure.dialect == Some("bedrock_converse")
}

/// Reads the provider's header about retries.
pub(crate) fn should_retry(failure: &Failure<'_>) -> Option<bool> {
    match failure.header("x-should-retry")?.trim() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Matches a status in a text.
static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r#"(?:API Error: ?|^ ?Error: ?|Error code: |HTTP(?:/[\d.]+)? |[Ss]tatus(?: code)?:? |<|["'](?:code|status|status_code|statusCode)["'] ?: ?)([45]\d\d)(?:$|[^\w.]|\.(?:$| ))"#,
    )
});

/// Matches a status with its reason phrase, which other numbers do not have.
static NAMED_NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?:^ ?|[\s>(\[\x22'])([45]\d\d):? (?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Request Timeout|Conflict|(?:Payload|Content|Request Entity) Too Large|Unprocessable|Too Many Requests|Internal Server Error|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out|Overloaded|\{)|^ ?([45]\d\d) ?$",
    )
});

/// Returns the status of a failure: its own, or inside a successful stream the status that its text names.
pub(crate) fn status(failure: &Failure<'_>, views: &Views) -> Option<u16> {
    match failure.status {
        Some(status) if status >= 400 => Some(status),
        status => views.iter().find_map(find_status).or(status),
    }
}

/// Matches error types that mean a wrong request.
static REFUSALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r#"["'](?:type|code|status|error|__type)["'] ?: ?["'](?:invalid_request(?:_error)?|invalid_argument|INVALID_ARGUMENT|bad_request(?:_error)?|BadRequest|validation_error|ValidationException|InvalidParameter\w*)["']|\b(?:ValidationException\b|BadRequestError: )"#,
    )
});

/// Whether a failure means a wrong request: by its status or, inside a stream, by its error type.
pub(crate) fn is_refused(status: Option<u16>, views: &Views) -> bool {
    let is_said = |view: &str| REFUSALS.as_ref().is_some_and(|regex| regex.is_match(view.as_bytes()));
    matches!(status, Some(400 | 422)) || views.iter().any(is_said)
}

fn find_status(view: &str) -> Option<u16> {
    let number = |regex: &LazyLock<Option<Regex>>| {
        let captures = regex.as_ref()?.captures(view.as_bytes())?;
        let number = captures.get(1).or_else(|| captures.get(2))?;
        std::str::from_utf8(number.as_bytes()).ok()?.parse().ok()
    };
    number(&NUMBERS).or_else(|| number(&NAMED_NUMBERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_from_texts_that_name_one() {
        for text in [
            "Error code: 429 - {'error': {}}",
            "429 Too Many Requests",
            "API Error: 429 {\"type\":\"error\"}",
            "HTTP/1.1 429 Too Many Requests",
            r#"{"error":{"code":429,"message":"slow"}}"#,
            r#"{"raw":"{\"error\":{\"code\": 429}}"}"#,
            "<429> InternalError",
            "request failed with status code 429",
            "429 {\"type\":\"error\"}",
            "<html><head><title>429 Too Many Requests</title></head>",
            "429",
        ] {
            let failure = Failure { text, ..Failure::default() };
            assert_eq!(super::status(&failure, &Views::of(text)), Some(429), "{text}");
        }
        for text in ["I read 429 files", "see issue #429", "429 apples", "", "took 4.429 s"] {
            assert_eq!(find_status(text), None, "{text}");
        }
    }

    #[test]
    fn the_status_of_the_response_counts_before_one_in_the_text() {
        let text = r#"{"error":{"code":502}}"#;
        let read = |status| super::status(&Failure { status, text, ..Failure::default() }, &Views::of(text));
        assert_eq!((read(Some(400)), read(Some(200)), read(None)), (Some(400), Some(502), Some(502)));
    }

    #[test]
    fn the_retry_header_overrides_the_status() {
        let class = |status, word| {
            let headers = [("X-Should-Retry", word)];
            Reading::of(Some(status), &Failure { headers: &headers, ..Failure::default() }).kind.class
        };
        assert_eq!((class(400, "true"), class(500, "false")), (Class::Transient, Class::Fatal));
        assert_eq!((class(413, "false"), class(429, "true")), (Class::Overflow, Class::Transient));
        assert_eq!(class(400, "maybe"), Class::Fatal);
    }
}
