//! The responses that a bridge waits for.

use bytes::Bytes;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::members::Members;

/// The responses of one connection. The upstream answers one `response.create` after the other.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The number of responses that have not ended.
    open: usize,
    stage: Stage,
}

/// The stage of the oldest response that has not ended.
#[derive(Debug, Default)]
enum Stage {
    /// Its request was sent, and nothing came back.
    Sent(Bytes),
    /// The upstream rejected it with this event, and a stronger repair was sent.
    SentAgain(Utf8Bytes),
    /// The client got a part of it, or no request is open.
    #[default]
    Begun,
}

/// The meaning of an event of the upstream for the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The event is passed on.
    Pass,
    /// The upstream rejected this request, and the client got nothing of its response.
    Rejected(Bytes),
    /// The upstream accepted a stronger repair; the event is passed on.
    Accepted,
    /// The upstream rejected a stronger repair, too; the client gets the first error.
    RejectedAgain(Utf8Bytes),
}

impl Turns {
    /// Notes a `response.create` that goes to the upstream.
    pub(super) fn handle_create(&mut self, body: &str) {
        self.open += 1;
        // While two requests are open, an error does not say which one it is about.
        self.stage = if self.open == 1 { Stage::Sent(Bytes::copy_from_slice(body.as_bytes())) } else { Stage::Begun };
    }

    /// Notes a stronger repair that goes to the upstream after this error.
    pub(super) fn handle_retry(&mut self, error: Utf8Bytes) {
        self.stage = Stage::SentAgain(error);
        self.open = 1;
    }

    /// Takes an event of the upstream.
    pub(super) fn handle_event(&mut self, event: &str) -> Step {
        let kind = Members::get(event.as_bytes(), "type").unwrap_or_default();
        let is_error = kind == br#""error""#;
        if !is_error && !kind.starts_with(br#""response."#) {
            return Step::Pass;
        }
        let step = match std::mem::take(&mut self.stage) {
            Stage::Sent(body) if is_error => Step::Rejected(body),
            Stage::SentAgain(first) if is_error => Step::RejectedAgain(first),
            Stage::SentAgain(_) => Step::Accepted,
            Stage::Sent(_) | Stage::Begun => Step::Pass,
        };
        let is_end = matches!(kind, br#""response.completed""# | br#""response.failed""# | br#""response.incomplete""#);
        if is_error || is_end {
            self.open = self.open.saturating_sub(1);
        }
        step
    }

    /// Whether a response has not ended.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: &str = r#"{"type":"error","status":400}"#;

    #[test]
    fn only_the_first_event_of_the_only_response_can_be_a_rejection() {
        let asked = || {
            let mut turns = Turns::default();
            turns.handle_create("body");
            turns
        };
        let mut turns = asked();
        assert_eq!(turns.handle_event(r#"{"type":"codex.rate_limits"}"#), Step::Pass);
        assert_eq!(turns.handle_event(ERROR), Step::Rejected(Bytes::from_static(b"body")));
        assert!(!turns.is_open());

        let mut turns = asked();
        assert_eq!(turns.handle_event(r#"{"type":"response.created"}"#), Step::Pass);
        assert_eq!((turns.handle_event(ERROR), turns.is_open()), (Step::Pass, false));

        let mut turns = asked();
        turns.handle_create("another");
        assert_eq!((turns.handle_event(ERROR), turns.is_open()), (Step::Pass, true));
        assert_eq!(turns.handle_event(r#"{"type":"response.completed"}"#), Step::Pass);
        assert!(!turns.is_open());
    }

    #[test]
    fn a_second_rejection_gives_the_first_error() {
        let first = || Utf8Bytes::from_static(ERROR);
        let mut turns = Turns::default();
        turns.handle_retry(first());
        assert_eq!(turns.handle_event(r#"{"type":"error","status":500}"#), Step::RejectedAgain(first()));
        turns.handle_retry(first());
        assert_eq!(turns.handle_event(r#"{"type":"response.created"}"#), Step::Accepted);
        assert_eq!(turns.handle_event(ERROR), Step::Pass);
    }
}
