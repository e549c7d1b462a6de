//! Which kinds of block occur.

use crate::{Block, BlockKind, IdForm};

/// Which kinds of block occur in a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds {
    /// How many calls the client answers.
    pub calls: u32,
    /// Calls or results answered by the client.
    pub pairs: bool,
    /// Calls whose id a client made up for its own history.
    pub internal_ids: bool,
    /// Calls that may have the id of another one in the same message or in the one before it.
    pub neighbouring_ids: bool,
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
            BlockKind::ServerCall(_) | BlockKind::ServerResult(_) => self.server_pairs = true,
            BlockKind::Reasoning { .. } => self.reasoning = true,
            BlockKind::Text(_) | BlockKind::Media | BlockKind::Opaque => {}
        }
    }

    /// Which kinds are left after blocks of the kinds `gone` went. Nothing when the blocks that are left must tell.
    pub fn without(self, gone: Self) -> Option<Self> {
        let Self { calls, pairs, internal_ids, neighbouring_ids, server_pairs, reasoning } = gone;
        let calls = self.calls.checked_sub(calls)?;
        let is_known = !internal_ids && !neighbouring_ids && !server_pairs && !reasoning && (!pairs || calls > 0);
        is_known.then_some(Self { calls, ..self })
    }

    /// Notes how the calls of a message stand to each other and to the message before it.
    pub fn note_calls(&mut self, before: &[Block], blocks: &[Block]) {
        let calls = || blocks.iter().filter_map(Block::call);
        let follow = || before.iter().any(|block| block.call().is_some());
        let repeat = || calls().enumerate().any(|(at, call)| calls().take(at).any(|earlier| earlier.id == call.id));
        self.neighbouring_ids |= match calls().count() {
            0 => false,
            1 => follow(),
            count => count > PAIRWISE_MAX || repeat() || follow(),
        };
    }
}

/// More calls than this in one message are not compared pair by pair.
const PAIRWISE_MAX: usize = 8;
