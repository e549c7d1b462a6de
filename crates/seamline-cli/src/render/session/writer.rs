//! The process that writes a session, and whether it still runs.

use seamline::store::{Holder, Presence, presence};

use crate::time;

/// The state of the process for programs.
pub(crate) fn word(holder: &Holder) -> &'static str {
    match presence(holder) {
        Presence::Alive => "alive",
        Presence::Gone => "gone",
        Presence::Unknown => "unknown",
    }
}

/// The state of the process in a few words.
pub(crate) fn brief(holder: &Holder) -> String {
    match presence(holder) {
        Presence::Alive => format!("written by {holder}"),
        Presence::Gone => format!("{holder} is gone without releasing the lease"),
        Presence::Unknown => format!("{holder} holds the lease"),
    }
}

/// The state of the process in one line.
pub(crate) fn line(holder: &Holder) -> String {
    match presence(holder) {
        Presence::Alive => format!("{holder} runs and has written it since {}", time::of_ms(holder.since)),
        Presence::Gone => format!("{holder} is gone without releasing the lease"),
        Presence::Unknown => format!("{holder}; this machine cannot tell whether it still runs"),
    }
}
