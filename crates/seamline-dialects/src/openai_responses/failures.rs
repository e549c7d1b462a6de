//! Writes errors.

use crate::failures::{self, FailedEvent, FailedStream, Failures};
use crate::json::{Json, member, object};

pub(super) const FAILURES: Failures = Failures { body: failures::OPENAI.body, event };

fn event(failed: &FailedStream<'_>) -> FailedEvent {
    let number = sequence_number(failed.last).map_or(0, |number| number + 1);
    FailedEvent::named_error(&object([
        member("type", "error"),
        member("code", "server_error"),
        member("message", failed.message),
        ("param", Json::Null),
        ("sequence_number", Json::Written(number.to_string())),
    ]))
}

/// The number of the last event in a piece.
fn sequence_number(last: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\"sequence_number\":";
    let at = last.windows(KEY.len()).rposition(|window| window == KEY)? + KEY.len();
    let digits = last[at..].trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}
