//! Writes a conversation as a new session of a program.

use super::About;

/// A conversation that is to be written as a new session.
pub struct Export<'e> {
    /// The messages as JSON, in the dialect in which the program sends them.
    pub messages: &'e [&'e str],
    /// The description of the new session: its id, folder, model and title.
    pub about: &'e About,
    /// The time of the first record, in milliseconds since 1970. Each further record is one millisecond later.
    pub time_ms: i64,
}
