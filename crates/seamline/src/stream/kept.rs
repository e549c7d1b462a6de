//! What a history keeps of an answer.

use std::sync::OnceLock;

use seamline_dialects::{Dialect, readable};
use seamline_model::Assembled;

/// The messages that a history keeps, written when somebody asks for them: an answer that is only looked at does without
/// this copy of what was said.
#[derive(Clone)]
pub(super) struct Kept {
    assembled: Assembled,
    write: fn(&Assembled) -> Vec<String>,
    written: OnceLock<Vec<String>>,
}

impl Kept {
    /// All of a message but the calls that are not to be run.
    pub(super) fn of(dialect: &Dialect, mut assembled: Assembled) -> Self {
        assembled.blocks.retain(|block| block.call().is_none_or(|call| call.executable));
        Self { assembled, write: dialect.streaming().messages, written: OnceLock::new() }
    }

    pub(super) fn messages(&self) -> &[String] {
        let written = |message: String| readable(&message).unwrap_or(message);
        self.written.get_or_init(|| (self.write)(&self.assembled).into_iter().map(written).collect())
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.messages() == other.messages()
    }
}

impl Eq for Kept {}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.messages().fmt(f)
    }
}
