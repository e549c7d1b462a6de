//! Writes errors.

use crate::failures::{ErrorBody, FailedEvent, FailedStream, FailureCause, Failures, google_status};
use crate::json::{Json, member, object};

pub(super) const FAILURES: Failures = Failures { body, event };

fn body(status: u16, message: &str) -> ErrorBody {
    ErrorBody::of(&object([("error", error(message, &google_status(status).to_ascii_lowercase()))]))
}

fn event(failed: &FailedStream<'_>) -> FailedEvent {
    let code = match failed.cause {
        FailureCause::Stalled => "gateway_timeout",
        FailureCause::Broken => "unavailable",
    };
    FailedEvent::named_error(&object([("error", error(failed.message, code)), member("event_type", "error")]))
}

fn error(message: &str, code: &str) -> Json<'static> {
    object([member("message", message), member("code", code)])
}
