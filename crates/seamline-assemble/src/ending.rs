//! How a message ended, decided once.

use seamline_model::{Ending, Stop};

/// What decides how a message ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Signs {
    /// The provider said that it failed, or what it sent could not be kept.
    pub(crate) failed: bool,
    /// Whoever asked stopped listening, and why.
    pub(crate) left: Option<Left>,
    /// The reason the provider gave: the last of the worst.
    pub(crate) stop: Option<Stop>,
    /// The end that the dialect demands has come.
    pub(crate) done: bool,
    /// The last block is a call.
    pub(crate) ends_in_call: bool,
}

/// Why whoever asked stopped listening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Stalled,
    Aborted,
}

impl Signs {
    /// Notes why the provider stopped. Whether the reason counts.
    pub(crate) fn is_stopped_by(&mut self, stop: Stop) -> bool {
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
            // What was complete before nobody listened any more stays so.
            (_, _, Some(Left::Stalled)) if !self.done => Ending::Stalled,
            (_, _, Some(Left::Aborted)) if !self.done => Ending::Aborted,
            _ if !self.done => Ending::Truncated,
            (_, Some(Stop::Length), _) if self.ends_in_call => Ending::CutCall,
            (_, Some(Stop::Length), _) => Ending::Length,
            (_, Some(Stop::Turn | Stop::Calls | Stop::Pause | Stop::Other) | None, _) => Ending::Complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOPS: [Option<Stop>; 10] = [
        None,
        Some(Stop::Turn),
        Some(Stop::Calls),
        Some(Stop::Length),
        Some(Stop::Filter),
        Some(Stop::Refusal),
        Some(Stop::Pause),
        Some(Stop::Malformed),
        Some(Stop::Failure),
        Some(Stop::Other),
    ];

    #[test]
    fn nothing_that_failed_was_filtered_or_stopped_short_is_complete() {
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
    fn the_limit_inside_a_call_is_told_apart() {
        let signs = Signs { stop: Some(Stop::Length), done: true, ..Signs::default() };
        assert_eq!(signs.ending(), Ending::Length);
        assert_eq!(Signs { ends_in_call: true, ..signs }.ending(), Ending::CutCall);
        assert_eq!(Signs { ends_in_call: true, done: false, ..signs }.ending(), Ending::Truncated);
    }

    #[test]
    fn what_was_filtered_or_cut_off_stays_so() {
        for (reasons, counts) in [
            ([Stop::Refusal, Stop::Turn], Stop::Refusal),
            ([Stop::Length, Stop::Turn], Stop::Length),
            ([Stop::Turn, Stop::Filter], Stop::Filter),
            ([Stop::Malformed, Stop::Length], Stop::Malformed),
            ([Stop::Turn, Stop::Calls], Stop::Calls),
        ] {
            let mut signs = Signs::default();
            for stop in reasons {
                signs.is_stopped_by(stop);
            }
            assert_eq!(signs.stop, Some(counts), "{reasons:?}");
        }
    }
}
