//! Who writes a session, and whether he is still there.

use seamline::store::{Holder, Presence, presence};

use crate::time;

/// For programs.
pub(crate) fn word(holder: &Holder) -> &'static str {
    match presence(holder) {
        Presence::Alive => "alive",
        Presence::Gone => "gone",
        Presence::Unknown => "unknown",
    }
}

/// In few words.
pub(crate) fn brief(holder: &Holder) -> String {
    match presence(holder) {
        Presence::Alive => format!("written by {holder}"),
        Presence::Gone => format!("{holder} did not let go and is gone"),
        Presence::Unknown => format!("not let go by {holder}"),
    }
}

/// In a line.
pub(crate) fn line(holder: &Holder) -> String {
    match presence(holder) {
        Presence::Alive => format!("{holder} runs and writes it since {}", time::of_ms(holder.since)),
        Presence::Gone => format!("{holder} is gone and did not let go of it"),
        Presence::Unknown => format!("{holder}; whether it still runs is not known here"),
    }
}
