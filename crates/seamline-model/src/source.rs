//! The bytes that spans point into, and bodies made of pieces of them.

use std::borrow::Cow;
use std::ops::Range;

use crate::{Encoded, Span};

/// The bytes that the spans of a transcript point into: a body and, after it in the same address space, the text that
/// repairs wrote. A span lies completely in one of the two.
///
/// Bytes that a repair does not touch stay where they are, so a small change to a long conversation copies almost
/// nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'a> {
    /// The body that was read.
    pub body: &'a [u8],
    /// The text that repairs wrote since.
    pub written: &'a [u8],
    /// The ranges that form the present body, in order; empty if the body is unchanged.
    pub pieces: &'a [Range<usize>],
}

impl<'a> Source<'a> {
    /// An unchanged body.
    pub fn new(body: &'a [u8]) -> Self {
        Self { body, ..Self::default() }
    }

    /// The bytes of a span.
    #[inline]
    pub fn get(self, span: Span) -> Option<&'a [u8]> {
        self.piece(span.range())
    }

    /// The bytes of a range.
    #[inline]
    fn piece(self, Range { start, end }: Range<usize>) -> Option<&'a [u8]> {
        match start.checked_sub(self.body.len()) {
            None => self.body.get(start..end),
            Some(start) => self.written.get(start..end.checked_sub(self.body.len())?),
        }
    }

    /// The bytes before and after a span, in the body or in the written text.
    pub fn around(self, span: Span) -> (&'a [u8], &'a [u8]) {
        let Range { start, end } = span.range();
        let (bytes, start, end) = match start.checked_sub(self.body.len()) {
            None => (self.body, start, end),
            Some(start) => (self.written, start, end.saturating_sub(self.body.len())),
        };
        (bytes.get(..start).unwrap_or_default(), bytes.get(end..).unwrap_or_default())
    }

    /// The number of bytes that spans can point into.
    pub fn len(self) -> usize {
        self.body.len() + self.written.len()
    }

    /// Whether there are no bytes at all.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes of the present body, piece by piece.
    pub fn pieces(self) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        let whole = self.pieces.is_empty().then_some(self.body);
        whole.into_iter().chain(self.pieces.iter().map(move |piece| self.piece(piece.clone()).unwrap_or_default()))
    }

    /// The present body, if it is one piece.
    pub fn whole(self) -> Option<&'a [u8]> {
        let mut pieces = self.pieces();
        pieces.next().filter(|_| pieces.next().is_none())
    }

    /// The present body as one buffer.
    pub fn joined(self) -> Vec<u8> {
        let mut joined = Vec::with_capacity(self.pieces().map(<[u8]>::len).sum());
        self.pieces().for_each(|piece| joined.extend_from_slice(piece));
        joined
    }

    /// At least the first `bytes` bytes of the present body, if it has as many.
    pub fn head(self, bytes: usize) -> Cow<'a, [u8]> {
        let mut head = Cow::Borrowed(&[][..]);
        for piece in self.pieces() {
            if head.is_empty() {
                head = Cow::Borrowed(piece);
            } else {
                let missing = bytes.saturating_sub(head.len());
                head.to_mut().extend_from_slice(&piece[..missing.min(piece.len())]);
            }
            if head.len() >= bytes {
                break;
            }
        }
        head
    }
}

/// A body made of pieces of the original and of the text that repairs wrote.
#[derive(Debug, Clone)]
pub struct Spliced<'a> {
    body: Cow<'a, [u8]>,
    written: Vec<u8>,
    pieces: Vec<Range<usize>>,
}

impl<'a> Spliced<'a> {
    /// An unchanged body.
    pub fn new(body: &'a [u8]) -> Self {
        Self { body: Cow::Borrowed(body), written: Vec::new(), pieces: Vec::new() }
    }

    /// The bytes it is made of.
    pub fn source(&self) -> Source<'_> {
        Source { body: &self.body, written: &self.written, pieces: &self.pieces }
    }

    /// Takes over the output of edits.
    pub fn take(&mut self, encoded: Encoded) {
        (self.written, self.pieces) = (encoded.written, encoded.pieces);
    }

    /// The bytes; borrowed if nothing was changed.
    pub fn into_bytes(self) -> Cow<'a, [u8]> {
        if self.pieces.is_empty() { self.body } else { Cow::Owned(self.source().joined()) }
    }
}

impl From<Vec<u8>> for Spliced<'_> {
    /// A body in one buffer, to be read again.
    fn from(body: Vec<u8>) -> Self {
        Self { body: Cow::Owned(body), written: Vec::new(), pieces: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_points_into_the_body_or_the_written_text() {
        let source = Source { body: b"body", written: b"new", pieces: &[] };
        assert_eq!(source.get(Span::new(1, 4)), Some(&b"ody"[..]));
        assert_eq!(source.get(Span::new(4, 7)), Some(&b"new"[..]));
        assert_eq!(source.get(Span::new(4, 4)), Some(&b""[..]));
        assert_eq!(source.get(Span::new(3, 5)), None, "a span never crosses the boundary");
        assert_eq!(source.get(Span::new(6, 8)), None);
    }

    #[test]
    fn pieces_form_the_body_in_order() {
        let mut spliced = Spliced::new(b"one, two");
        assert!(matches!(spliced.clone().into_bytes(), Cow::Borrowed(b"one, two")));
        let pieces = vec![8..13, 3..5, 0..3];
        spliced.take(Encoded { written: b"three".to_vec(), pieces, ..Encoded::default() });
        let source = spliced.source();
        assert_eq!(source.pieces().collect::<Vec<_>>(), [&b"three"[..], b", ", b"one"]);
        assert_eq!((source.whole(), source.joined()), (None, b"three, one".to_vec()));
        for bytes in 0..12 {
            let head = source.head(bytes);
            assert!(head.len() >= bytes.min(10) && b"three, one".starts_with(&head), "{head:?}");
        }
    }
}
