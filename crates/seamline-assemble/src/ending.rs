//! Decides once how a message ended.

use seamline_model::{Ending, Stop};

/// The facts that decide how a message ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Signs {
    /// Whether the provider reported a failure, or the message exceeded a limit.
    pub(crate) failed: bool,
    /// Why the caller stopped reading, if it did.
    pub(crate) left: Option<Left>,
    /// The provider's stop reason: the last of the most severe.
    pub(crate) stop: Option<Stop>,
    /// Whether the dialect's final event arrived.
    pub(crate) done: bool,
    /// Whether the last block is a call.
    pub(crate) ends_in_call: bool,
}

/// Why the caller stopped reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Stalled,
    Aborted,
}

impl Signs {
    /// Records a stop reason. Returns whether it replaces the earlier one.
    pub(crate) fn record_stop(&mut self, stop: Stop) -> bool {
        let counts = stop.counts_after(self.stop);
        if counts {
            self.stop = Some(stop);
        }
        counts
    }

    pub(crate) fn ending(self) -> Ending {
        match (self.failed, self.stop, self.left) {
            (true, ..) | (_, Some(Stop::Failure | Stop::Malformed), _) => Ending::Failed,
            (_, Some(Stop::Filter | Stop::Refusal), _) => Ending::Filtered,
            // A message that was complete before the caller stopped reading stays complete.
            (_, _, Some(Left::Stalled)) if !self.done => Ending::Stalled,
            (_, _, Some(Left::Aborted)) if !self.done => Ending::Aborted,
            _ if !self.done => Ending::Truncated,
            (_, Some(Stop::Length), _) if self.ends_in_call => Ending::CutCall,
            (_, Some(Stop::Length), _) => Ending::Length,
            (_, Some(Stop::Steered), _) => Ending::Steered,
            (_, Some(Stop::Turn | Stop::Calls | Stop::Pause | Stop::Other) | None, _) => Ending::Complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOPS: [Option<Stop>; 11] = [
        None,
        Some(Stop::Turn),
        Some(Stop::Calls),
        Some(Stop::Length),
        Some(Stop::Filter),
        Some(Stop::Refusal),
        Some(Stop::Pause),
        Some(Stop::Steered),
        Some(Stop::Malformed),
        Some(Stop::Failure),
        Some(Stop::Other),
    ];

    #[test]
    fn a_failed_filtered_or_truncated_message_is_never_complete() {
        let both = [false, true];
        for stop in STOPS {
            for left in [None, Some(Left::Stalled), Some(Left::Aborted)] {
                for (failed, done) in both.map(|failed| both.map(|done| (failed, done))).concat() {
                    for ends_in_call in both {
                        let ending = Signs { failed, left, stop, done, ends_in_call }.ending();
                        let whole = matches!(stop, None | Some(Stop::Turn | Stop::Calls | Stop::Pause | Stop::Other));
                        assert_eq!(ending == Ending::Complete, !failed && done && whole, "{stop:?} {left:?} {done}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_limit_inside_a_call_is_a_separate_ending() {
        let signs = Signs { stop: Some(Stop::Length), done: true, ..Signs::default() };
        assert_eq!(signs.ending(), Ending::Length);
        assert_eq!(Signs { ends_in_call: true, ..signs }.ending(), Ending::CutCall);
        assert_eq!(Signs { ends_in_call: true, done: false, ..signs }.ending(), Ending::Truncated);
    }

    #[test]
    fn a_severe_stop_reason_is_never_replaced_by_a_milder_one() {
        for (reasons, counts) in [
            ([Stop::Refusal, Stop::Turn], Stop::Refusal),
            ([Stop::Length, Stop::Turn], Stop::Length),
            ([Stop::Turn, Stop::Filter], Stop::Filter),
            ([Stop::Malformed, Stop::Length], Stop::Malformed),
            ([Stop::Turn, Stop::Calls], Stop::Calls),
        ] {
            let mut signs = Signs::default();
            for stop in reasons {
                signs.record_stop(stop);
            }
            assert_eq!(signs.stop, Some(counts), "{reasons:?}");
        }
    }
}
