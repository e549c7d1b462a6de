//! The body of an upstream's response on its way to the client: passed on byte for byte, and watched.

mod idle;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use memchr::memmem;
use seamline::responses;
use seamline::stream::{Ending, Framing, ResponseStream, StreamOptions};

pub(crate) use self::idle::Idle;
pub use self::idle::Stalled;
use crate::call::{ModelCall, error_of};
use crate::coding;
use crate::config::StallTimes;
use crate::counts::Counted;
use crate::ending::{StreamFailure, Tail};
use crate::facts::Facts;
use crate::incident::IncidentOutcome;
use crate::ledger::Ledger;
use crate::response::Incomplete;
use crate::unpack::Unpacker;

/// The largest response without streaming that is kept to read its signatures.
const COPY_BYTES_MAX: usize = 4 << 20;

/// A response body that is watched.
pub(crate) struct Observed<B> {
    /// The body of the upstream; `None` after its end. To drop it closes the connection to the upstream.
    inner: Option<B>,
    watched: Watched,
    idle: Idle,
    facts: Facts,
    ledger: Arc<Ledger>,
    /// The request whose end is reported.
    call: Option<ModelCall>,
    _open: Option<Counted>,
}

/// The knowledge about the bytes that pass.
pub(crate) enum Watched {
    /// Events of a dialect. `may_add` tells whether an event can be added: the length and the coding are open.
    Stream { assembly: Option<Box<Assembly>>, tail: Tail, may_add: bool },
    /// A response without streaming, of which a copy is kept until it is too large.
    Whole { pieces: Option<Vec<Bytes>>, bytes: usize, coding: Option<String> },
    /// Bytes that are not read.
    Opaque,
}

impl Watched {
    /// Watches a stream. `has_length` tells whether the length of the body is known.
    pub(crate) fn stream(options: &StreamOptions, framing: Framing, coding: Option<&str>, has_length: bool) -> Self {
        let assembly = Assembly::new(options, coding).map(Box::new);
        Self::Stream { assembly, tail: Tail::new(framing), may_add: coding.is_none() && !has_length }
    }

    /// Keeps a copy of a response without streaming.
    pub(crate) fn whole(coding: Option<String>) -> Self {
        Self::Whole { pieces: Some(Vec::new()), bytes: 0, coding }
    }

    /// Takes a piece. Returns whether it brought progress.
    fn handle_piece(&mut self, piece: &Bytes) -> bool {
        match self {
            Self::Stream { assembly, tail, may_add } => {
                if *may_add {
                    tail.handle_piece(piece);
                }
                let Some(stream) = assembly else { return true };
                // A defect of the assembly must not stop the response.
                let moved = catch_unwind(AssertUnwindSafe(|| stream.feed(piece)));
                let Ok(Some(moved)) = moved else {
                    *assembly = None;
                    return true;
                };
                moved
            }
            Self::Whole { pieces, bytes, .. } => {
                *bytes += piece.len();
                if *bytes > COPY_BYTES_MAX {
                    *pieces = None;
                } else if let Some(pieces) = pieces {
                    pieces.push(piece.clone());
                }
                true
            }
            Self::Opaque => true,
        }
    }

    /// The ending of an assembled stream and its message.
    fn finish(&mut self) -> Option<(Ending, String)> {
        let Self::Stream { assembly, .. } = self else { return None };
        let stream = assembly.take()?;
        let response = catch_unwind(AssertUnwindSafe(|| stream.stream.finish())).ok()?.ok()?;
        Some((response.ending, response.message))
    }
}

/// The assembly of a stream, from a decoded copy where the stream is compressed.
pub(crate) struct Assembly {
    stream: ResponseStream,
    unpacker: Option<Unpacker>,
}

impl Assembly {
    /// An assembly that begins; `None` where the coding is not known.
    fn new(options: &StreamOptions, coding: Option<&str>) -> Option<Self> {
        let unpacker = match coding {
            Some(coding) => Some(Unpacker::new(coding)?),
            None => None,
        };
        // The options name a known dialect, so they are never refused.
        Some(Self { stream: ResponseStream::new(options).ok()?, unpacker })
    }

    /// Takes a piece. Returns whether it brought progress; `None` where the assembly cannot go on.
    fn feed(&mut self, piece: &[u8]) -> Option<bool> {
        let moved = match &mut self.unpacker {
            Some(unpacker) => self.stream.feed(&unpacker.unpack(piece)?),
            None => self.stream.feed(piece),
        };
        (!self.stream.is_over()).then_some(moved)
    }
}

impl<B> Observed<B> {
    pub(crate) fn new(
        inner: B,
        watched: Watched,
        times: StallTimes,
        (facts, ledger, open, call): (Facts, Arc<Ledger>, Option<Counted>, Option<ModelCall>),
    ) -> Self {
        // An opaque body may be a download or a long response; its pauses are not a stall.
        let times = if matches!(watched, Watched::Opaque) { StallTimes::NONE } else { times };
        Self { inner: Some(inner), watched, idle: Idle::new(times), facts, ledger, call, _open: open }
    }

    /// Notes the end of a body that the upstream completed.
    fn handle_end(&mut self) {
        self.inner = None;
        match &mut self.watched {
            Watched::Stream { .. } => {
                if let Some((ending, message)) = self.watched.finish() {
                    self.learn(message.as_bytes());
                    self.finish_call(message.as_bytes(), error_of(ending));
                    if ending == Ending::Truncated {
                        self.facts.report(IncidentOutcome::Broken, "the stream ended before its last event");
                    }
                }
            }
            Watched::Whole { pieces, coding, .. } => {
                let (pieces, coding) = (pieces.take(), coding.take());
                let body = match pieces.as_deref() {
                    Some([one]) => one.clone(),
                    Some(several) => several.concat().into(),
                    None => return self.finish_call(&[], None),
                };
                if let Ok(body) = coding::decode(coding.as_deref(), &body, COPY_BYTES_MAX) {
                    self.learn(&body);
                    self.finish_call(&body, None);
                }
            }
            Watched::Opaque => {}
        }
        // A response that was not read has no facts.
        self.finish_call(&[], None);
    }

    /// Reports the end of the request, unless it was reported.
    fn finish_call(&mut self, message: &[u8], error: Option<&'static str>) {
        if let Some((call, dialect)) = self.call.take().zip(self.facts.dialect) {
            call.finish(responses::facts(dialect, message), error);
        }
    }

    /// Ends the body, because the upstream does not complete it.
    fn handle_failure(&mut self, failure: StreamFailure) -> Option<Result<Frame<Bytes>, Incomplete>> {
        self.inner = None;
        let finished = self.watched.finish();
        let is_complete = finished.as_ref().is_some_and(|(ending, _)| is_said_by_provider(*ending));
        let error = match failure {
            _ if is_complete => None,
            StreamFailure::Broken => Some("broken"),
            StreamFailure::Stalled(_) => Some("stalled"),
        };
        if let Some((ending, message)) = finished {
            self.learn(message.as_bytes());
            self.finish_call(message.as_bytes(), error.or(error_of(ending)));
        }
        self.finish_call(&[], error);
        let Watched::Stream { tail, may_add, .. } = &self.watched else {
            self.report(failure);
            return Some(Err(Incomplete));
        };
        // The client has the whole message; only the end of the transfer is missing.
        if is_complete && *may_add {
            return None;
        }
        let added = self.facts.dialect.filter(|_| *may_add).and_then(|dialect| tail.failed(dialect, failure));
        self.report(failure);
        Some(added.map(Frame::data).ok_or(Incomplete))
    }

    fn report(&self, failure: StreamFailure) {
        match failure {
            StreamFailure::Broken => self.facts.report(IncidentOutcome::Broken, "the upstream closed the connection"),
            StreamFailure::Stalled(how) => self.facts.report(IncidentOutcome::Stalled, how.cause()),
        };
    }

    /// Remembers the signatures of a response.
    fn learn(&self, message: &[u8]) {
        let has_signature = || memmem::find(message, b"ignature\"").is_some();
        if let Some(dialect) = self.facts.dialect
            && has_signature()
        {
            self.ledger.learn(dialect, message);
        }
    }
}

/// Whether the provider itself ended the message.
fn is_said_by_provider(ending: Ending) -> bool {
    match ending {
        Ending::Complete | Ending::Length | Ending::CutCall | Ending::Steered | Ending::Filtered | Ending::Failed => {
            true
        }
        Ending::Truncated | Ending::Stalled | Ending::Aborted => false,
    }
}

impl<B> Body for Observed<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = Incomplete;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Incomplete>>> {
        let this = self.get_mut();
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        match Pin::new(&mut *inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                // A server does not ask for more after a body with a length is complete.
                let is_end = inner.is_end_stream();
                if let Some(piece) = frame.data_ref() {
                    let has_moved = this.watched.handle_piece(piece);
                    this.idle.handle_piece(has_moved);
                }
                if is_end {
                    this.handle_end();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(_))) => Poll::Ready(this.handle_failure(StreamFailure::Broken)),
            Poll::Ready(None) => {
                this.handle_end();
                Poll::Ready(None)
            }
            Poll::Pending => match this.idle.poll_stalled(cx) {
                Some(how) => Poll::Ready(this.handle_failure(StreamFailure::Stalled(how))),
                None => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.inner.as_ref().map(Body::size_hint);
        hint.filter(|hint| hint.exact().is_some()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
