//! Which kinds of block occur.

use crate::{BlockKind, IdForm};

/// Which kinds of block occur in a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds {
    /// How many calls the client answers.
    pub calls: u32,
    /// Calls or results answered by the client.
    pub pairs: bool,
    /// Calls whose id a client made up for its own history.
    pub internal_ids: bool,
    /// Calls or results of tools the provider runs itself.
    pub server_pairs: bool,
    /// Reasoning blocks.
    pub reasoning: bool,
}

impl Kinds {
    /// Notes that a block of this kind occurs.
    pub fn note(&mut self, kind: &BlockKind) {
        match kind {
            BlockKind::Call(call) => {
                self.pairs = true;
                self.internal_ids |= call.id_form == IdForm::Internal;
                self.calls += 1;
            }
            BlockKind::Result(_) => self.pairs = true,
            BlockKind::ServerCall(_) | BlockKind::ServerResult { .. } => self.server_pairs = true,
            BlockKind::Reasoning { .. } => self.reasoning = true,
            BlockKind::Text(_) | BlockKind::Media | BlockKind::Opaque => {}
        }
    }
}
