//! The kinds of block that occur in a transcript.

use crate::{Block, BlockKind, Role};

/// The kinds of block that occur in a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds {
    /// The number of calls that the client answers.
    pub calls: u32,
    /// Whether calls or results of the client occur.
    pub pairs: bool,
    /// Whether a call has an id that a client made for its own history.
    pub internal_ids: bool,
    /// Whether a call may share its id with another one in the same message or in the run of messages before.
    pub neighbouring_ids: bool,
    /// Whether calls or results of the provider's own tools occur.
    pub server_pairs: bool,
    /// Whether reasoning blocks occur.
    pub reasoning: bool,
}

impl Kinds {
    /// Records that a block of this kind occurs.
    pub fn note(&mut self, kind: &BlockKind) {
        match kind {
            BlockKind::Call(call) => {
                self.pairs = true;
                self.internal_ids |= call.id_form.is_internal();
                self.calls += 1;
            }
            BlockKind::Result(_) => self.pairs = true,
            BlockKind::ServerCall(_) | BlockKind::ServerResult(_) => self.server_pairs = true,
            BlockKind::Reasoning { .. } => self.reasoning = true,
            BlockKind::Text(_) | BlockKind::Media | BlockKind::Opaque => {}
        }
    }

    /// Returns the kinds that are left after blocks of the kinds `gone` were removed, or `None` if only the blocks can
    /// tell.
    pub fn without(self, gone: Self) -> Option<Self> {
        let Self { calls, pairs, internal_ids, neighbouring_ids, server_pairs, reasoning } = gone;
        let calls = self.calls.checked_sub(calls)?;
        let is_known = !internal_ids && !neighbouring_ids && !server_pairs && !reasoning && (!pairs || calls > 0);
        is_known.then_some(Self { calls, ..self })
    }

    /// Records whether calls of a message may share ids with each other or with the messages right before. A message of
    /// the assistant without calls may follow one with calls, so it is enough.
    pub fn note_calls(&mut self, before: Option<Role>, before_blocks: &[Block], blocks: &[Block]) {
        let calls = || blocks.iter().filter_map(Block::call);
        let continues = matches!(before, Some(Role::Assistant | Role::Unknown));
        let follow = || continues || before_blocks.iter().any(|block| block.call().is_some());
        let repeat = || calls().enumerate().any(|(at, call)| calls().take(at).any(|earlier| earlier.id == call.id));
        self.neighbouring_ids |= match calls().count() {
            0 => false,
            1 => follow(),
            count => count > PAIRWISE_MAX || repeat() || follow(),
        };
    }
}

/// The highest number of calls in a message that are compared pair by pair.
const PAIRWISE_MAX: usize = 8;
