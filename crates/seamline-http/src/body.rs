//! The bodies of responses.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;

use crate::repairer::Watch;

/// An error of a client or of a body.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The largest error response that is read before it is passed on.
const ERROR_BYTES_MAX: usize = 256 * 1024;

/// The body of a response: that of the client, passed on byte for byte.
pub struct ResponseBody<B> {
    /// Pieces that were read already.
    begun: VecDeque<Bytes>,
    /// The rest of the body; `None` after its end.
    inner: Option<Pin<Box<B>>>,
    watch: Option<Watch>,
}

impl<B> ResponseBody<B> {
    pub(crate) fn new(inner: B, watch: Option<Watch>) -> Self {
        Self { begun: VecDeque::new(), inner: Some(Box::pin(inner)), watch }
    }
}

impl<B> ResponseBody<B>
where
    B: Body,
    B::Data: Buf,
{
    /// Reads an error up to its end or the limit. Returns its text if it is complete, and a body with the same bytes.
    pub(crate) async fn read_error(inner: B) -> (Option<String>, Self) {
        let mut body = Self::new(inner, None);
        let mut bytes = 0;
        while let Some(rest) = &mut body.inner {
            if bytes > ERROR_BYTES_MAX {
                return (None, body);
            }
            match rest.as_mut().frame().await {
                Some(Ok(frame)) => {
                    let Ok(mut data) = frame.into_data() else { continue };
                    bytes += data.remaining();
                    body.begun.push_back(data.copy_to_bytes(data.remaining()));
                }
                // The next read of the body gives the error of the connection to the caller.
                Some(Err(_)) => return (None, body),
                None => body.inner = None,
            }
        }
        let whole: Vec<u8> = body.begun.iter().flatten().copied().collect();
        (Some(String::from_utf8_lossy(&whole).into_owned()), body)
    }
}

impl<B> Body for ResponseBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if let Some(piece) = this.begun.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        let frame = std::task::ready!(inner.as_mut().poll_frame(cx));
        let frame = frame.map(|frame| {
            let frame = frame.map_err(Into::into)?;
            Ok(frame.map_data(|mut data| data.copy_to_bytes(data.remaining())))
        });
        match (&frame, &mut this.watch) {
            (Some(Ok(frame)), Some(watch)) => {
                if let Some(piece) = frame.data_ref() {
                    watch.feed(piece);
                }
            }
            (None | Some(Err(_)), _) => {
                this.inner = None;
                this.watch = None;
            }
            (Some(Ok(_)), None) => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        let is_over = self.inner.as_ref().is_none_or(Body::is_end_stream);
        self.begun.is_empty() && is_over
    }

    fn size_hint(&self) -> SizeHint {
        let begun: usize = self.begun.iter().map(Bytes::len).sum();
        let mut hint = self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint);
        let upper = hint.upper().map(|upper| upper + begun as u64);
        hint.set_lower(hint.lower() + begun as u64);
        if let Some(upper) = upper {
            hint.set_upper(upper);
        }
        hint
    }
}

impl<B> std::fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseBody").field("is_watched", &self.watch.is_some()).finish_non_exhaustive()
    }
}
