//! One block of a message while it comes.

use seamline_model::{Addition, Piece, Recalled};

use crate::arguments::{ArgSource, Arguments, has_members};
use crate::members::Members;
use crate::snapshot::Snapshot;

/// A block while it comes.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) piece: Piece,
    pub(crate) base: String,
    pub(crate) whole: Option<String>,
    pub(crate) text: Snapshot,
    /// The first half of a character, whose other half is to come.
    pub(crate) half: Option<u16>,
    /// The text that the provider repeated at the end.
    pub(crate) whole_text: Option<String>,
    /// It did so twice, and not with the same.
    pub(crate) has_two_texts: bool,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Arguments,
    pub(crate) free: bool,
    pub(crate) needs_id: bool,
    pub(crate) unfinished: bool,
    /// How many events had come when it began.
    pub(crate) begun: u64,
    /// Something that could not be read came while the block was coming.
    pub(crate) gap: bool,
    pub(crate) signature: Option<String>,
    pub(crate) needs_signature: bool,
    pub(crate) members: Members,
    pub(crate) closed: bool,
}

impl Block {
    /// A block that begins once so many events have come.
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

    /// How many bytes of pieces are kept.
    pub(crate) fn size(&self) -> usize {
        self.text.size() + self.arguments.size()
    }

    /// How many bytes more are kept with an addition, or about so many.
    pub(crate) fn growth(&self, addition: &Addition<'_>) -> usize {
        match addition {
            Addition::Text(text) => self.text.growth(text),
            Addition::Arguments(piece) => self.arguments.growth(piece),
            _ => 0,
        }
    }

    /// Notes that nothing of it is to be guessed.
    pub(crate) fn sign(&mut self, signature: &str) {
        self.signature = Some(signature.to_owned());
        self.text.take_as_it_comes();
    }

    /// Notes the text that the provider repeats.
    pub(crate) fn repeat(&mut self, text: &str) {
        self.recall(Recalled::Text, text);
        self.whole_text = Some(text.to_owned());
    }

    /// Compares it with what the provider says of it once more. Whether id and name are others.
    pub(crate) fn recall(&mut self, what: Recalled, said: &str) -> bool {
        match what {
            Recalled::Id => return !self.id.is_empty() && self.id != said,
            Recalled::Name => return !self.name.is_empty() && self.name != said,
            Recalled::Arguments => self.arguments.recall(said),
            Recalled::Text => self.has_two_texts |= self.whole_text.as_deref().is_some_and(|whole| whole != said),
        }
        false
    }

    /// Whether it is a call that nobody can run.
    pub(crate) fn is_nameless(&self) -> bool {
        self.piece == Piece::Call && self.name.trim().is_empty()
    }

    /// Whether all of a call is known to have come when the limit cut a later one: it was closed,
    /// or its input is all that an object can be, and another call began after it.
    pub(crate) fn is_finished(&self, last_begun: u64, source: ArgSource) -> bool {
        let is_followed = self.begun < last_begun && !self.free;
        self.closed
            || self.whole.is_some()
            || self.arguments.is_repeated_whole()
            || is_followed && has_members(&self.arguments.text(source))
    }

    /// Adds a character to its text or its input.
    fn push(&mut self, char: char) {
        let mut bytes = [0; 4];
        let char = &*char.encode_utf8(&mut bytes);
        match self.piece {
            Piece::Call | Piece::ServerCall => self.arguments.push(char),
            Piece::Text | Piece::Refusal | Piece::Reasoning | Piece::Opaque => self.text.push(char),
        }
    }

    /// Takes half a character. Whether a half stayed alone.
    pub(crate) fn take_half(&mut self, unit: u16) -> bool {
        let pair = self.half.and_then(|first| char::decode_utf16([first, unit]).next()?.ok());
        if let Some(char) = pair {
            self.half = None;
            self.push(char);
            return false;
        }
        let is_alone = self.leave_half();
        self.half = Some(unit);
        is_alone || (is_second_half(unit) && self.leave_half())
    }

    /// Gives up on the other half of a character. Whether there was one to come.
    pub(crate) fn leave_half(&mut self) -> bool {
        let is_alone = self.half.take().is_some();
        if is_alone {
            self.push(char::REPLACEMENT_CHARACTER);
        }
        is_alone
    }

    /// Nothing more comes for it.
    pub(crate) fn close(&mut self, last_gap: u64) {
        if !self.closed {
            self.closed = true;
            self.gap |= last_gap > self.begun;
        }
    }

    /// Whether nothing of it is missing, as far as the stream says. What the provider itself put
    /// together has no gap.
    pub(crate) fn is_whole(&self, last_gap: u64) -> bool {
        let has_gap = self.gap || (!self.closed && last_gap > self.begun);
        !self.unfinished && (!has_gap || self.whole.is_some())
    }
}

/// Whether half a character is one that has to stand behind another.
fn is_second_half(unit: u16) -> bool {
    matches!(unit, 0xdc00..=0xdfff)
}
