//! One unit inside a message.

use crate::{BlockKind, Call, MessageIndex, Span};

/// One unit inside a message. Blocks take most of the memory of a long conversation, and each check reads all of them,
/// so a block fills exactly one cache line.
#[derive(Debug, Clone)]
pub struct Block {
    /// The message it belongs to.
    pub message: MessageIndex,
    /// Its bytes in the source.
    pub span: Span,
    /// The kind of block.
    pub kind: BlockKind,
    packed: PackedSlot,
}

const _: () = assert!(size_of::<Block>() == 64, "a block fills a line of the cache");

impl Block {
    /// A block. `is_signed` says whether the provider signed it, whatever its kind.
    pub fn new(message: MessageIndex, span: Span, slot: Slot, kind: BlockKind, is_signed: bool) -> Self {
        Self { message, span, kind, packed: PackedSlot::new(slot, is_signed) }
    }

    /// The position in its message.
    pub fn slot(&self) -> Slot {
        self.packed.slot()
    }

    /// Whether the provider signed it, whatever its kind.
    pub fn is_signed(&self) -> bool {
        self.packed.is_signed()
    }

    /// A copy whose message index is `messages` higher; a difference below zero wraps.
    #[must_use]
    pub fn moved(&self, messages: u32) -> Self {
        Self { message: MessageIndex(self.message.0.wrapping_add(messages)), ..self.clone() }
    }

    /// The call, if this is a call that the client answers.
    pub fn call(&self) -> Option<&Call> {
        match &self.kind {
            BlockKind::Call(call) => Some(call),
            _ => None,
        }
    }
}

/// The position of a block in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The part of the message.
    pub field: Field,
    /// The index inside that part.
    pub index: u32,
}

/// The parts of a message that can hold a block.
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

/// A slot and whether its block is signed: the field in the two lowest bits, the signature in the next bit, the index
/// above. A body never has enough values to overflow the index.
#[derive(Debug, Clone, Copy)]
struct PackedSlot(u32);

impl PackedSlot {
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
    fn packing_a_slot_keeps_all_its_fields() {
        for field in Field::ALL {
            for index in [0, 1, 7, u32::MAX >> 3] {
                for is_signed in [false, true] {
                    let packed = PackedSlot::new(Slot { field, index }, is_signed);
                    assert_eq!((packed.slot(), packed.is_signed()), (Slot { field, index }, is_signed));
                }
            }
        }
    }
}
