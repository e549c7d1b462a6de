//! The bytes of a client as they arrive: their lengths are watched, and a head that has begun must end in time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::length::LengthWatch;

/// The facts that the bytes of a connection have shown.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    is_ambiguous: AtomicBool,
    is_unwatched: AtomicBool,
}

impl Seen {
    /// Whether the length of a request could be read in two ways.
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.is_ambiguous.load(Ordering::Relaxed)
    }

    /// Whether a request asked for another protocol. A connection that stays with HTTP must end.
    pub(crate) fn is_unwatched(&self) -> bool {
        self.is_unwatched.load(Ordering::Relaxed)
    }
}

/// A connection whose bytes are watched.
pub(crate) struct Arrival<S> {
    stream: S,
    watch: LengthWatch,
    seen: Arc<Seen>,
    head_time: Duration,
    /// The end of the time of a head that has begun.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Arrival<S> {
    /// Watches a new connection.
    pub(crate) fn new(stream: S, seen: Arc<Seen>, head_bytes_max: usize, head_time: Duration) -> Self {
        Self { stream, watch: LengthWatch::new(head_bytes_max), seen, head_time, deadline: None }
    }

    fn look(&mut self, bytes: &[u8]) {
        let sighting = self.watch.feed(bytes);
        if sighting.is_ambiguous {
            self.seen.is_ambiguous.store(true, Ordering::Relaxed);
        }
        if sighting.ends_watch {
            self.seen.is_unwatched.store(true, Ordering::Relaxed);
        }
        if !self.watch.is_inside_head() {
            self.deadline = None;
        }
    }

    /// Whether the head that has begun is too slow.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.watch.is_inside_head() {
            return false;
        }
        let head_time = self.head_time;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(head_time)));
        deadline.as_mut().poll(cx).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Arrival<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        match Pin::new(&mut this.stream).poll_read(cx, buf) {
            Poll::Ready(Ok(())) => {
                this.look(&buf.filled()[before..]);
                Poll::Ready(Ok(()))
            }
            Poll::Pending if this.is_late(cx) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Arrival<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
