//! The body of a response to the client: a text of the proxy, or what the upstream sends.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::counts::Counted;
use crate::join::Joined;
use crate::observe::Observed;

/// The body of a response to the client.
pub(crate) struct ResponseBody {
    source: Source,
    /// The request is open until its body is dropped.
    open: Option<Counted>,
    /// So long the connection is not idle.
    busy: Option<Counted>,
}

enum Source {
    Whole(Bytes),
    /// Pieces that were read already, and the rest of the upstream's body, if there is one.
    Begun(VecDeque<Bytes>, Rest),
    Observed(Box<Observed<Joined<Incoming>>>),
}

/// The rest of a body whose first pieces were read.
pub(crate) enum Rest {
    Body(Incoming),
    Trailers(HeaderMap),
    Nothing,
    /// The upstream did not complete the body.
    Failed(Failing),
}

/// The stage of the end of a body that is not complete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failing {
    /// The pieces may not have been written: the server drops what it holds when a body fails.
    Begun,
    /// The pieces were written.
    Written,
}

/// The error of a response that cannot be completed. It ends the connection.
#[derive(Debug, thiserror::Error)]
#[error("the upstream did not complete its response")]
pub(crate) struct Incomplete;

impl ResponseBody {
    /// A body in memory.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self { source: Source::Whole(bytes), open: None, busy: None }
    }

    /// A body of an upstream, of which some pieces were read.
    pub(crate) fn begun(pieces: VecDeque<Bytes>, rest: Rest) -> Self {
        Self { source: Source::Begun(pieces, rest), open: None, busy: None }
    }

    /// A body of an upstream that is watched.
    pub(crate) fn observed(observed: Observed<Joined<Incoming>>) -> Self {
        Self { source: Source::Observed(Box::new(observed)), open: None, busy: None }
    }

    /// Counts the request as open as long as the body exists.
    pub(crate) fn keep_open(&mut self, open: Counted) {
        self.open = Some(open);
    }

    /// Keeps the connection from being idle as long as the body exists.
    pub(crate) fn keep_busy(&mut self, busy: Counted) {
        self.busy = Some(busy);
    }
}

impl From<Incoming> for ResponseBody {
    fn from(body: Incoming) -> Self {
        Self::begun(VecDeque::new(), Rest::Body(body))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Incomplete;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Incomplete>>> {
        match &mut self.get_mut().source {
            Source::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Source::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Source::Begun(pieces, rest) => match (pieces.pop_front(), rest) {
                (Some(piece), _) => Poll::Ready(Some(Ok(Frame::data(piece)))),
                (None, Rest::Body(body)) => Pin::new(body).poll_frame(cx).map_err(|_| Incomplete),
                (None, Rest::Nothing) => Poll::Ready(None),
                (None, rest @ Rest::Failed(Failing::Begun)) => {
                    *rest = Rest::Failed(Failing::Written);
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
                (None, Rest::Failed(Failing::Written)) => Poll::Ready(Some(Err(Incomplete))),
                (None, rest @ Rest::Trailers(_)) => {
                    let Rest::Trailers(trailers) = std::mem::replace(rest, Rest::Nothing) else {
                        return Poll::Ready(None);
                    };
                    Poll::Ready(Some(Ok(Frame::trailers(trailers))))
                }
            },
            Source::Observed(observed) => Pin::new(&mut **observed).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Whole(bytes) => bytes.is_empty(),
            Source::Begun(pieces, rest) => {
                pieces.is_empty()
                    && match rest {
                        Rest::Body(body) => body.is_end_stream(),
                        Rest::Trailers(_) | Rest::Failed(_) => false,
                        Rest::Nothing => true,
                    }
            }
            Source::Observed(observed) => observed.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Source::Begun(pieces, rest) => {
                let read = pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
                match rest {
                    Rest::Body(body) => body
                        .size_hint()
                        .exact()
                        .map_or_else(SizeHint::default, |rest| SizeHint::with_exact(read + rest)),
                    Rest::Trailers(_) | Rest::Failed(_) => SizeHint::default(),
                    Rest::Nothing => SizeHint::with_exact(read),
                }
            }
            Source::Observed(observed) => observed.size_hint(),
        }
    }
}
