//! The part of a body before its messages.

use seamline_dialects::Dialect;
use seamline_model::Transcript;

use crate::requests::Around;

/// The part of a body after its last message.
pub(super) const CLOSING: &[u8] = b"]}";

/// The start of a body, up to its first message.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// The bytes of the head.
    pub(super) bytes: Vec<u8>,
    /// The parsed content of the head.
    pub(super) around: Around,
}

impl Head {
    /// Parses a head. Returns `None` when it cannot be the head of a body.
    pub(super) fn read(dialect: &Dialect, head: &str) -> Option<Self> {
        let body = [head.as_bytes(), CLOSING].concat();
        let transcript = dialect.decode(&body).ok()?;
        let list = head.len().checked_sub(1)?..head.len() + 1;
        if transcript.list.range() != list || !transcript.messages.is_empty() || transcript.is_bare_list() {
            return None;
        }
        let mut around = Around::of(&transcript);
        around.irregularities.clone_from(&transcript.irregularities);
        Some(Self { bytes: head.as_bytes().to_vec(), around })
    }

    /// The head of a body that has only messages, from its transcript.
    pub(super) fn plain(head: String, transcript: &Transcript<'_>) -> Self {
        Self { bytes: head.into_bytes(), around: Around::of(transcript) }
    }
}
