//! Reads the body of a request into memory, up to a limit and within a time.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body;

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
pub(crate) async fn read<B>(body: B, bytes_max: usize, time: Duration) -> Result<Bytes, NotRead>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(NotRead::TooLarge(bytes_max));
    }
    let collected = tokio::time::timeout(time, Limited::new(body, bytes_max).collect()).await;
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(NotRead::TooLarge(bytes_max)),
        Ok(Err(_)) => Err(NotRead::Broken),
        Err(_) => Err(NotRead::Slow(time)),
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
        assert_eq!(read(body(), 5, TIME).await.unwrap(), "12345");
        assert_eq!(read(body(), 4, TIME).await, Err(NotRead::TooLarge(4)));
    }
}
