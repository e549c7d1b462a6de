//! Blocks that a provider has rejected because of their reasoning: thinking, sealed reasoning and signatures of calls.

use seamline_model::{Block, BlockKind, Transcript};

use crate::policy::RejectedReasoning;

/// The number of bytes of a hash that mark a block.
const MARK_BYTES: usize = 16;

/// The marks of the blocks with reasoning or with the signature of a call, from a message on. A mark shows nothing of the
/// block, and is the same wherever the block is sent again.
pub fn reasoning_marks(transcript: &Transcript<'_>, from: u32) -> Vec<String> {
    let blocks = transcript.blocks.iter().filter(|block| block.message.0 >= from && has_reasoning(block));
    blocks.map(|block| mark(transcript, block)).collect()
}

/// Whether the provider has rejected the reasoning or the signature of a block.
pub(crate) fn is_rejected(rejected: &RejectedReasoning, transcript: &Transcript<'_>, block: &Block) -> bool {
    let RejectedReasoning { from, marks } = rejected;
    if !has_reasoning(block) {
        return false;
    }
    from.is_some_and(|from| block.message.0 >= from) || !marks.is_empty() && marks.contains(&mark(transcript, block))
}

fn has_reasoning(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Reasoning { signed: true }) || block.is_signed() && block.call().is_some()
}

fn mark(transcript: &Transcript<'_>, block: &Block) -> String {
    let hash = blake3::hash(transcript.text(block.span).as_bytes());
    hash.to_hex()[..2 * MARK_BYTES].to_owned()
}
