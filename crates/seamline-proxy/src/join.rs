//! Joins the pieces of a stream that have arrived, so that they leave in one write.
//!
//! A provider sends many small events, and a connection to it gives them one by one. To write each alone costs more than
//! all other work on a stream. Bytes and their order stay, and a piece waits only as long as the next one is already
//! there.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};

/// The most bytes that are joined.
const JOINED_BYTES_MAX: usize = 16 << 10;

/// The turns that a piece waits. The connection to the upstream is another task, which may run on another thread.
const TURNS_MAX: usize = 4;

/// A body whose pieces are joined.
pub(crate) struct Joined<B: Body> {
    inner: B,
    /// The pieces that wait.
    held: BytesMut,
    /// The frame after the waiting pieces: trailers or an error.
    next: Option<Result<Frame<Bytes>, B::Error>>,
    /// Whether the inner body has nothing more.
    is_over: bool,
    /// Whether the first piece is gone. It does not wait.
    has_begun: bool,
    /// The turns that the connection to the upstream had since the last piece.
    turns: usize,
}

impl<B: Body> Joined<B> {
    pub(crate) fn new(inner: B) -> Self {
        Self { inner, held: BytesMut::new(), next: None, is_over: false, has_begun: false, turns: 0 }
    }

    fn release(&mut self) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        self.turns = 0;
        Poll::Ready(Some(Ok(Frame::data(self.held.split().freeze()))))
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Joined<B>
where
    B::Error: Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        loop {
            if let Some(next) = this.next.take() {
                return Poll::Ready(Some(next));
            }
            if this.is_over {
                return Poll::Ready(None);
            }
            match Pin::new(&mut this.inner).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) if frame.is_data() => {
                    let Ok(piece) = frame.into_data() else { continue };
                    let is_first = !std::mem::replace(&mut this.has_begun, true);
                    if is_first || (this.held.is_empty() && piece.len() >= JOINED_BYTES_MAX) {
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                    this.turns = 0;
                    this.held.extend_from_slice(&piece);
                    if this.held.len() >= JOINED_BYTES_MAX || this.inner.is_end_stream() {
                        return this.release();
                    }
                }
                Poll::Ready(next) if this.held.is_empty() => return Poll::Ready(next),
                Poll::Ready(next) => {
                    this.is_over = next.is_none();
                    this.next = next;
                    return this.release();
                }
                Poll::Pending if this.held.is_empty() => return Poll::Pending,
                Poll::Pending if this.turns >= TURNS_MAX => return this.release(),
                Poll::Pending => {
                    // The connection to the upstream gives one piece at a time.
                    this.turns += 1;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.held.is_empty() && self.next.is_none() && (self.is_over || self.inner.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        if self.held.is_empty() { self.inner.size_hint() } else { SizeHint::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;

    use super::*;

    /// A body that gives what a test lists; `None` is a time without a piece.
    struct Listed(VecDeque<Option<&'static str>>);

    impl Body for Listed {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.get_mut().0.pop_front() {
                None => Poll::Ready(None),
                Some(None) => Poll::Pending,
                Some(Some(piece)) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(piece.as_bytes()))))),
            }
        }
    }

    /// Polls the joined body and lists its pieces; a full stop is a poll without a piece.
    fn joined(listed: &[Option<&'static str>]) -> Vec<String> {
        let mut body = Joined::new(Listed(listed.iter().copied().collect()));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut out = Vec::new();
        loop {
            match Pin::new(&mut body).poll_frame(&mut cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    out.push(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap());
                }
                Poll::Ready(_) => return out,
                Poll::Pending => out.push(".".to_owned()),
            }
        }
    }

    #[test]
    fn the_first_piece_does_not_wait_and_the_others_leave_together() {
        assert_eq!(joined(&[Some("a"), Some("b"), Some("c")]), ["a", "bc"]);
    }

    #[test]
    fn a_piece_waits_for_a_few_turns_of_the_upstream() {
        let waits = [None; TURNS_MAX + 1];
        let with = |between: &[Option<&'static str>], rest: &[Option<&'static str>]| {
            joined(&[&[Some("a"), Some("b")], between, rest].concat())
        };
        let turns = [".", ".", ".", "."];
        assert_eq!(with(&[None, Some("c")], &waits), [&["a", "."], &turns[..], &["bc"]].concat());
        assert_eq!(with(&waits, &[Some("c")]), [&["a"], &turns[..], &["b", "c"]].concat());
    }

    #[test]
    fn the_bytes_that_wait_have_a_bound() {
        let piece: &'static str = Box::leak("x".repeat(JOINED_BYTES_MAX / 2).into_boxed_str());
        let lengths: Vec<usize> =
            joined(&[Some("a"), Some(piece), Some(piece), Some(piece)]).iter().map(String::len).collect();
        assert_eq!(lengths, [1, JOINED_BYTES_MAX, JOINED_BYTES_MAX / 2]);
    }
}
