//! Writes errors. A header names the exception.

use crate::failures::{self, ErrorBody, Failures, is_of_client};
use crate::json::{member, object};

/// A stream of messages of AWS fails with an exception, which its framing writes. Other framings are those of gateways.
pub(super) const FAILURES: Failures = Failures { body, event: failures::OPENAI.event };

fn body(status: u16, message: &str) -> ErrorBody {
    let header = Some(("x-amzn-errortype", exception(status)));
    ErrorBody { header, ..ErrorBody::of(&object([member("message", message)])) }
}

fn exception(status: u16) -> &'static str {
    match status {
        407 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 | 504 => "ModelTimeoutException",
        status if is_of_client(status) => "ValidationException",
        _ => "ServiceUnavailableException",
    }
}
