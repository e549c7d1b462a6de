//! The bodies of requests: read into memory up to a limit and within a time, and sent on.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::HeaderMap;
use hyper::body::{Body, Frame, Incoming, SizeHint};

/// A body that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReadBody {
    pub(crate) bytes: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

/// A reason why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotRead {
    /// The body exceeds the limit.
    #[error("the body of the request is larger than {0} bytes; raise `limits.body_bytes_max`")]
    TooLarge(usize),
    /// The body did not arrive in time.
    #[error("the body of the request did not arrive within {} s", .0.as_secs())]
    Slow(Duration),
    /// The connection failed, or the transfer is not valid.
    #[error("the body of the request is not complete")]
    Broken,
}

/// Reads a body.
pub(crate) async fn read<B>(body: B, bytes_max: usize, time: Duration) -> Result<ReadBody, NotRead>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(NotRead::TooLarge(bytes_max));
    }
    let collected = tokio::time::timeout(time, Limited::new(body, bytes_max).collect()).await;
    match collected {
        Ok(Ok(collected)) => {
            let trailers = collected.trailers().cloned();
            Ok(ReadBody { bytes: collected.to_bytes(), trailers })
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(NotRead::TooLarge(bytes_max)),
        Ok(Err(_)) => Err(NotRead::Broken),
        Err(_) => Err(NotRead::Slow(time)),
    }
}

/// The body of a request to an upstream.
#[derive(Debug)]
pub(crate) enum SentBody {
    /// A body in memory.
    Whole(ReadBody),
    /// The body of the client, passed through.
    Passed(Incoming),
}

impl Body for SentBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Whole(body) if !body.bytes.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut body.bytes)))))
            }
            Self::Whole(body) => Poll::Ready(body.trailers.take().map(|trailers| Ok(Frame::trailers(trailers)))),
            Self::Passed(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.bytes.is_empty() && body.trailers.is_none(),
            Self::Passed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            // A body with a length cannot have trailers.
            Self::Whole(body) if body.trailers.is_some() => SizeHint::default(),
            Self::Whole(body) => SizeHint::with_exact(body.bytes.len() as u64),
            Self::Passed(body) => body.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    const TIME: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit() {
        let body = || Full::new(Bytes::from_static(b"12345"));
        assert_eq!(read(body(), 5, TIME).await.unwrap().bytes, "12345");
        assert_eq!(read(body(), 4, TIME).await, Err(NotRead::TooLarge(4)));
    }

    #[tokio::test]
    async fn trailers_are_sent_on() {
        let trailers: HeaderMap = std::iter::once(("x-sum".parse().unwrap(), "7".parse().unwrap())).collect();
        let sent = SentBody::Whole(ReadBody { bytes: Bytes::from_static(b"12"), trailers: Some(trailers.clone()) });
        assert_eq!(sent.size_hint().exact(), None);
        let collected = sent.collect().await.unwrap();
        assert_eq!(collected.trailers(), Some(&trailers));
        assert_eq!(collected.to_bytes(), "12");
    }
}
