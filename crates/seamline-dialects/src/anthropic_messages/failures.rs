//! Writes errors.

use crate::failures::{ErrorBody, FailedEvent, FailedStream, FailureCause, Failures, is_of_client};
use crate::json::{Json, member, object};

pub(super) const FAILURES: Failures =
    Failures { body: |status, message| ErrorBody::of(&error(kind(status), message)), event };

fn event(failed: &FailedStream<'_>) -> FailedEvent {
    let kind = match failed.cause {
        FailureCause::Stalled => "timeout_error",
        FailureCause::Broken => "api_error",
    };
    FailedEvent::named_error(&error(kind, failed.message))
}

fn error(kind: &str, message: &str) -> Json<'static> {
    object([member("type", "error"), ("error", object([member("type", kind), member("message", message)]))])
}

fn kind(status: u16) -> &'static str {
    match status {
        407 => "authentication_error",
        404 => "not_found_error",
        413 => "request_too_large",
        408 | 504 => "timeout_error",
        503 | 529 => "overloaded_error",
        status if is_of_client(status) => "invalid_request_error",
        _ => "api_error",
    }
}
