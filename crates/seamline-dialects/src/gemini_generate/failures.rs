//! Writes errors.

use crate::failures::{ErrorBody, FailedEvent, FailedStream, FailureCause, Failures, google_status};
use crate::json::{Json, member, object};

pub(super) const FAILURES: Failures =
    Failures { body: |status, message| ErrorBody::of(&error(status, message)), event };

fn event(failed: &FailedStream<'_>) -> FailedEvent {
    let status = match failed.cause {
        FailureCause::Stalled => 504,
        FailureCause::Broken => 503,
    };
    FailedEvent::unnamed(&error(status, failed.message))
}

fn error(status: u16, message: &str) -> Json<'static> {
    let code = ("code", Json::Written(status.to_string()));
    object([("error", object([code, member("message", message), member("status", google_status(status))]))])
}
