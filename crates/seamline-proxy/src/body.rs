//! The bodies of requests: read into memory up to a limit and within a time, and sent on.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::HeaderMap;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::room::{HeldBytes, NoRoom};
use crate::stop::Stop;

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

/// Reads a body, and counts its bytes among those of the request. `time` is the longest pause.
pub(crate) async fn read<B>(body: B, bytes_max: usize, time: Duration, held: &mut HeldBytes) -> Result<ReadBody, Stop>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(NotRead::TooLarge(bytes_max).into());
    }
    match collect(Limited::new(body, bytes_max), time, held).await {
        Ok(read) => Ok(read),
        Err(Failed::Room(full)) => Err(full.into()),
        Err(Failed::Body(error)) if error.is::<LengthLimitError>() => Err(NotRead::TooLarge(bytes_max).into()),
        Err(Failed::Body(_)) => Err(NotRead::Broken.into()),
        Err(Failed::Slow) => Err(NotRead::Slow(time).into()),
    }
}

/// The reason why the pieces of a body were not joined.
enum Failed<E> {
    Body(E),
    Room(NoRoom),
    /// Nothing came for too long.
    Slow,
}

/// Joins the pieces of a body as they arrive, so that no piece stays in memory beside the whole.
async fn collect<B: Body<Data = Bytes>>(
    body: B,
    time: Duration,
    held: &mut HeldBytes,
) -> Result<ReadBody, Failed<B::Error>> {
    let mut body = std::pin::pin!(body);
    let expected = body.size_hint().exact().unwrap_or_default();
    let (mut first, mut joined, mut trailers) = (None, BytesMut::new(), None);
    while let Some(frame) = tokio::time::timeout(time, body.frame()).await.map_err(|_| Failed::Slow)? {
        let frame = frame.map_err(Failed::Body)?;
        held.grow(frame.data_ref().map_or(0, Bytes::len)).map_err(Failed::Room)?;
        match frame.into_data() {
            // Many bodies arrive in one piece, which needs no copy.
            Ok(piece) if first.is_none() && joined.is_empty() => first = Some(piece),
            Ok(piece) => {
                if let Some(first) = first.take() {
                    joined.reserve((expected as usize).max(first.len() + piece.len()));
                    joined.extend_from_slice(&first);
                }
                joined.extend_from_slice(&piece);
            }
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
    }
    Ok(ReadBody { bytes: first.unwrap_or_else(|| joined.freeze()), trailers })
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
    use crate::room::BodyRoom;

    const TIME: Duration = Duration::from_secs(1);

    async fn read<B>(body: B, bytes_max: usize, time: Duration) -> Result<ReadBody, Stop>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        super::read(body, bytes_max, time, &mut BodyRoom::default().enter(6)).await
    }

    fn too_large(bytes_max: usize) -> Result<ReadBody, Stop> {
        Err(NotRead::TooLarge(bytes_max).into())
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit() {
        let body = || Full::new(Bytes::from_static(b"12345"));
        assert_eq!(read(body(), 5, TIME).await.unwrap().bytes, "12345");
        assert_eq!(read(body(), 4, TIME).await, too_large(4));
        let long = Full::new(Bytes::from_static(b"1234567"));
        assert_eq!(read(long, 9, TIME).await, Err(NoRoom.into()));
    }

    #[tokio::test]
    async fn the_pieces_of_a_body_are_joined_and_a_single_one_is_not_copied() {
        let pieces = |texts: &'static [&'static str]| {
            let frames =
                texts.iter().map(|text| Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(text.as_bytes()))));
            http_body_util::StreamBody::new(futures_util::stream::iter(frames))
        };
        for texts in [&["ab", "", "cde", "f"][..], &["", "", "abcdef"], &["abcdef"]] {
            assert_eq!(read(pieces(texts), 6, TIME).await.unwrap().bytes, "abcdef", "{texts:?}");
            assert_eq!(read(pieces(texts), 5, TIME).await, too_large(5), "{texts:?}");
        }
        assert_eq!(read(pieces(&[]), 5, TIME).await.unwrap().bytes, "");
        let one = Bytes::from_static(b"whole");
        assert_eq!(read(Full::new(one.clone()), 5, TIME).await.unwrap().bytes.as_ptr(), one.as_ptr());
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
