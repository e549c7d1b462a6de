//! The memory that the bodies of all requests take, with a bound.
//!
//! Each body has a limit of its own. Without a common one, many large or compressed bodies at a time would exhaust the
//! memory. A request for whose body no room is left gets an error that tells its client to try again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

use crate::rescue::error_response;
use crate::response::ResponseBody;

/// The time after which a client may try again, in seconds.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// The number of bytes that bodies hold at this moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyRoom(Arc<AtomicUsize>);

/// The bytes of the bodies of one request. They are free again when it is dropped.
#[derive(Debug)]
pub(crate) struct HeldBytes {
    room: Arc<AtomicUsize>,
    bytes: usize,
    bytes_max: usize,
}

/// The reason why a body is not kept: other bodies take the whole room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the proxy holds too many bodies of requests at this moment; try again, or raise `limits.all_bodies_bytes_max`"
)]
pub(crate) struct NoRoom;

impl BodyRoom {
    /// Counts the bytes of a new request. All requests together hold at most `bytes_max`.
    pub(crate) fn enter(&self, bytes_max: usize) -> HeldBytes {
        HeldBytes { room: Arc::clone(&self.0), bytes: 0, bytes_max }
    }

    /// The number of bytes that all requests hold.
    pub(crate) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl HeldBytes {
    /// Counts more bytes.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let bytes_max = self.bytes_max;
        let sum = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= bytes_max);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).map_err(|_| NoRoom)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Holds no bytes so far, in the same room.
    pub(crate) fn empty(&self) -> Self {
        Self { room: Arc::clone(&self.room), bytes: 0, bytes_max: self.bytes_max }
    }

    /// Takes the bytes that another one of the same room holds.
    pub(crate) fn add(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.room.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl NoRoom {
    /// The response for the client, in its dialect.
    pub(crate) fn response(self, dialect: Option<&str>) -> Response<ResponseBody> {
        let mut response = error_response(dialect, StatusCode::SERVICE_UNAVAILABLE, &self.to_string());
        response.headers_mut().insert(RETRY_AFTER, RETRY_SECONDS);
        response
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use seamline::classify::{Class, Failure};

    use super::*;

    #[test]
    fn all_requests_share_the_room_and_give_it_back() {
        let room = BodyRoom::default();
        let (mut one, mut other) = (room.enter(10), room.enter(10));
        assert_eq!(
            (one.grow(6), other.grow(5), other.grow(4), one.grow(1)),
            (Ok(()), Err(NoRoom), Ok(()), Err(NoRoom))
        );
        assert_eq!(one.grow(usize::MAX), Err(NoRoom));
        drop(one);
        assert_eq!((other.grow(6), room.bytes()), (Ok(()), 10));
        drop(other);
        assert_eq!(room.bytes(), 0);
    }

    #[tokio::test]
    async fn a_client_of_every_dialect_tries_again() {
        for dialect in seamline::providers::dialect_names() {
            let response = NoRoom.response(Some(dialect));
            let status = Some(response.status().as_u16());
            assert_eq!(response.headers().get(RETRY_AFTER), Some(&RETRY_SECONDS));
            let text = response.into_body().collect().await.unwrap().to_bytes();
            let text = std::str::from_utf8(&text).unwrap();
            let failure = Failure { dialect: Some(dialect), status, text, ..Failure::default() };
            let class = seamline::classify(&failure).class;
            assert!(class == Class::Transient, "{dialect}: {class:?} {text}");
        }
    }

    #[tokio::test]
    async fn the_error_has_the_type_that_the_provider_gives_when_it_is_overloaded() {
        for (dialect, kind) in [
            ("anthropic_messages", r#"{"type":"error","error":{"type":"overloaded_error","message":"the proxy"#),
            ("openai_chat", r#""type":"server_error""#),
            ("openai_responses", r#""type":"server_error""#),
            ("gemini_generate", r#""status":"UNAVAILABLE""#),
            ("gemini_interactions", r#""code":"unavailable""#),
            ("bedrock_converse", r#"{"message":"the proxy"#),
        ] {
            let response = NoRoom.response(Some(dialect));
            let exception = response.headers().get("x-amzn-errortype").map(HeaderValue::as_bytes);
            let expected = (dialect == "bedrock_converse").then_some(&b"ServiceUnavailableException"[..]);
            assert_eq!((response.status().as_u16(), exception), (503, expected), "{dialect}");
            let text = response.into_body().collect().await.unwrap().to_bytes();
            let text = std::str::from_utf8(&text).unwrap();
            assert!(text.contains(kind), "{dialect}: {text}");
        }
    }
}
