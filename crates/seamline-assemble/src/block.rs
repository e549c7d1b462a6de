//! One block of a message while it arrives.

use seamline_model::{Addition, Piece, Recalled};

use crate::arguments::{ArgSource, Arguments, has_members};
use crate::members::Members;
use crate::snapshot::Snapshot;

/// A block while it arrives.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) piece: Piece,
    pub(crate) base: String,
    pub(crate) whole: Option<String>,
    pub(crate) text: Snapshot,
    /// The first half of a surrogate pair whose second half is still to come.
    pub(crate) half: Option<u16>,
    /// The complete text that the provider repeated at the end.
    pub(crate) whole_text: Option<String>,
    /// Whether the provider repeated the text twice, with different content.
    pub(crate) has_two_texts: bool,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Arguments,
    pub(crate) free: bool,
    pub(crate) needs_id: bool,
    pub(crate) unfinished: bool,
    /// The number of events before the block began.
    pub(crate) begun: u64,
    /// Whether something unreadable arrived while the block was open.
    pub(crate) gap: bool,
    pub(crate) signature: Option<String>,
    pub(crate) needs_signature: bool,
    pub(crate) members: Members,
    pub(crate) closed: bool,
}

impl Block {
    /// A block that begins after `begun` events.
    pub(crate) fn new(piece: Piece, base: &str, begun: u64) -> Self {
        Self {
            piece,
            base: base.to_owned(),
            whole: None,
            text: Snapshot::default(),
            half: None,
            whole_text: None,
            has_two_texts: false,
            id: String::new(),
            name: String::new(),
            arguments: Arguments::default(),
            free: false,
            needs_id: true,
            unfinished: false,
            begun,
            gap: false,
            signature: None,
            needs_signature: false,
            members: Members::default(),
            closed: false,
        }
    }

    /// The number of bytes of deltas that are kept.
    pub(crate) fn size(&self) -> usize {
        self.text.size() + self.arguments.size()
    }

    /// Roughly how many more bytes an addition would take.
    pub(crate) fn growth(&self, addition: &Addition<'_>) -> usize {
        match addition {
            Addition::Text(text) => self.text.growth(text),
            Addition::Arguments(piece) => self.arguments.growth(piece),
            _ => 0,
        }
    }

    /// Records the signature. Snapshots are not detected in signed text.
    pub(crate) fn sign(&mut self, signature: &str) {
        self.signature = Some(signature.to_owned());
        self.text.disable_snapshots();
    }

    /// Records the complete text that the provider repeats.
    pub(crate) fn repeat(&mut self, text: &str) {
        self.recall(Recalled::Text, text);
        self.whole_text = Some(text.to_owned());
    }

    /// Compares the block with the provider's repetition of it. Returns whether the id or name differs.
    pub(crate) fn recall(&mut self, what: Recalled, said: &str) -> bool {
        match what {
            Recalled::Id => return !self.id.is_empty() && self.id != said,
            Recalled::Name => return !self.name.is_empty() && self.name != said,
            Recalled::Arguments => self.arguments.recall(said),
            Recalled::Text => self.has_two_texts |= self.whole_text.as_deref().is_some_and(|whole| whole != said),
        }
        false
    }

    /// Whether it is a call without a tool name.
    pub(crate) fn is_nameless(&self) -> bool {
        self.piece == Piece::Call && self.name.trim().is_empty()
    }

    /// Whether a call is known to be complete although the limit cut a later call: it was closed or repeated in full,
    /// or its input is an object with members and another call began after it.
    pub(crate) fn is_finished(&self, last_begun: u64, source: ArgSource) -> bool {
        let is_followed = self.begun < last_begun && !self.free;
        self.closed
            || self.whole.is_some()
            || self.arguments.is_repeated_in_full()
            || is_followed && has_members(&self.arguments.text(source))
    }

    /// Adds a character to the text or the input.
    fn push(&mut self, char: char) {
        let mut bytes = [0; 4];
        let char = &*char.encode_utf8(&mut bytes);
        match self.piece {
            Piece::Call | Piece::ServerCall => self.arguments.push(char),
            Piece::Text | Piece::Refusal | Piece::Reasoning | Piece::Opaque => self.text.push(char),
        }
    }

    /// Adds half of a surrogate pair. Returns whether a half stayed alone.
    pub(crate) fn take_half(&mut self, unit: u16) -> bool {
        let pair = self.half.and_then(|first| char::decode_utf16([first, unit]).next()?.ok());
        if let Some(char) = pair {
            self.half = None;
            self.push(char);
            return false;
        }
        let is_alone = self.flush_half();
        self.half = Some(unit);
        is_alone || (is_second_half(unit) && self.flush_half())
    }

    /// Replaces a half that is waiting for its second half by U+FFFD. Returns whether there was one.
    pub(crate) fn flush_half(&mut self) -> bool {
        let is_alone = self.half.take().is_some();
        if is_alone {
            self.push(char::REPLACEMENT_CHARACTER);
        }
        is_alone
    }

    /// Closes the block: it gets no further additions.
    pub(crate) fn close(&mut self, last_gap: u64) {
        if !self.closed {
            self.closed = true;
            self.gap |= last_gap > self.begun;
        }
    }

    /// Whether the block is complete, as far as the stream says. A block that the provider itself assembled has no gap.
    pub(crate) fn is_whole(&self, last_gap: u64) -> bool {
        let has_gap = self.gap || (!self.closed && last_gap > self.begun);
        !self.unfinished && (!has_gap || self.whole.is_some())
    }
}

/// Whether a code unit is the second half of a surrogate pair.
fn is_second_half(unit: u16) -> bool {
    matches!(unit, 0xdc00..=0xdfff)
}
