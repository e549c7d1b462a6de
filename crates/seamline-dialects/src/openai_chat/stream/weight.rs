//! Which of several reasons to stop counts.

use seamline_model::Stop;

/// Which of two reasons counts: a later one only if it weighs as much.
pub(super) fn of(stop: Stop) -> u8 {
    match stop {
        Stop::Turn | Stop::Calls | Stop::Pause | Stop::Other => 0,
        Stop::Length => 1,
        Stop::Filter | Stop::Refusal => 2,
        Stop::Malformed | Stop::Failure => 3,
    }
}
