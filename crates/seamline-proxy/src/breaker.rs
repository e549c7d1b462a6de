//! Treatment of a history in which the model repeats wrong tool calls, as [`seamline::guards::review`] finds them.

/// Treatment of repeated wrong calls by the breaker. It is off unless it is configured, because it edits bodies that the
/// provider accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnTrip {
    /// The results of the wrong calls tell the model what is wrong and not to repeat them.
    #[default]
    Escalate,
    /// The request is not sent when the last calls are a loop.
    Block,
}
