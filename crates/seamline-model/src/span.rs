//! Positions in the source text and in the transcript.

/// A range of bytes in the text a transcript was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The same range for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The number of bytes.
    pub fn len(self) -> usize {
        self.range().len()
    }

    /// The span moved by `by` bytes; a difference below zero wraps.
    #[must_use]
    pub fn moved(self, by: u32) -> Self {
        Self { start: self.start.wrapping_add(by), end: self.end.wrapping_add(by) }
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// The index of a message in the transcript, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageIndex(pub u32);

impl MessageIndex {
    /// The index as a `usize`.
    pub fn get(self) -> usize {
        self.0 as usize
    }

    /// The message after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The index of a block in the whole transcript, from 0 over all messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub u32);

impl BlockIndex {
    /// The index as a `usize`.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}
