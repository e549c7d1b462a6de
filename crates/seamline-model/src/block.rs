//! One unit inside a message.

use crate::{BlockKind, Call, MessageIndex, Span};

/// One unit inside a message. Blocks are most of what a long conversation takes in memory, and
/// each check goes through all of them: one fills a line of the cache and no more.
#[derive(Debug, Clone)]
pub struct Block {
    /// The message it belongs to.
    pub message: MessageIndex,
    /// Where it stands in the source.
    pub span: Span,
    /// What it is.
    pub kind: BlockKind,
    stand: Stand,
}

const _: () = assert!(size_of::<Block>() == 64, "a block fills a line of the cache");

impl Block {
    /// A block, and whether the provider signed it, whatever it is.
    pub fn new(message: MessageIndex, span: Span, slot: Slot, kind: BlockKind, is_signed: bool) -> Self {
        Self { message, span, kind, stand: Stand::new(slot, is_signed) }
    }

    /// Where it stands in its message.
    pub fn slot(&self) -> Slot {
        self.stand.slot()
    }

    /// Whether the provider signed it, whatever it is.
    pub fn is_signed(&self) -> bool {
        self.stand.is_signed()
    }

    /// The same in a message so many places further on.
    #[must_use]
    pub fn moved(&self, messages: u32) -> Self {
        Self { message: MessageIndex(self.message.0.wrapping_add(messages)), ..self.clone() }
    }

    /// The call, if it is one the client answers.
    pub fn call(&self) -> Option<&Call> {
        match &self.kind {
            BlockKind::Call(call) => Some(call),
            _ => None,
        }
    }
}

/// Where a block stands in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Which part of the message.
    pub field: Field,
    /// The place in that part.
    pub index: u32,
}

/// The parts of a message a block can stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The content is this one block, written as a string.
    Whole,
    /// The list of content blocks.
    Content,
    /// The list of calls.
    Calls,
    /// The message is this one block.
    Item,
}

impl Field {
    const ALL: [Self; 4] = [Self::Whole, Self::Content, Self::Calls, Self::Item];
}

/// A slot and whether the block in it is signed: the field in the two lowest bits, the
/// signature in the next, the index above. No body has as many values as would not fit.
#[derive(Debug, Clone, Copy)]
struct Stand(u32);

impl Stand {
    const SIGNED: u32 = 0b100;

    fn new(slot: Slot, is_signed: bool) -> Self {
        let signed = if is_signed { Self::SIGNED } else { 0 };
        Self((slot.index << 3) | signed | slot.field as u32)
    }

    fn slot(self) -> Slot {
        Slot { field: Field::ALL[(self.0 & 0b11) as usize], index: self.0 >> 3 }
    }

    fn is_signed(self) -> bool {
        self.0 & Self::SIGNED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_comes_back_as_it_was() {
        for field in Field::ALL {
            for index in [0, 1, 7, u32::MAX >> 3] {
                for is_signed in [false, true] {
                    let stand = Stand::new(Slot { field, index }, is_signed);
                    assert_eq!((stand.slot(), stand.is_signed()), (Slot { field, index }, is_signed));
                }
            }
        }
    }
}
