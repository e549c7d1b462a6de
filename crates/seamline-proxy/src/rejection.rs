//! A request that its provider rejected as broken: repaired harder, and sent once more.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::CONTENT_ENCODING;
use hyper::http::request;
use hyper::{Response, StatusCode};

use crate::coding;
use crate::forward::Forwarding;
use crate::harder::{self, Attempt, Harder, Rejection};
use crate::headers::prepare_response;
use crate::inspect::Looked;
use crate::journal::now_ms;
use crate::note::Note;
use crate::response::{Failing, ResponseBody, Rest};
use crate::state::Lens;

/// The largest error that is read before it is passed on.
const ERROR_BYTES_MAX: usize = 256 * 1024;

/// The time until an error must have arrived to be read.
const ERROR_TIME: Duration = Duration::from_secs(10);

/// Whether a response with this status can be about a broken history.
pub(crate) fn is_possible(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY)
}

/// A request that was rejected.
pub(crate) struct Rejected<'r> {
    pub(crate) forwarding: &'r Forwarding<'r>,
    pub(crate) lens: &'r Arc<Lens>,
    pub(crate) looked: &'r Looked,
    pub(crate) head: &'r request::Parts,
    /// The body that was rejected, without a coding.
    pub(crate) sent: &'r Bytes,
}

/// The response for the client after a rejection.
pub(crate) enum Retried {
    /// The response to the second request.
    Accepted(Response<Incoming>),
    /// The first response of the provider.
    Untouched(Response<ResponseBody>),
}

impl Rejected<'_> {
    /// Repairs the request harder and sends it once more, if that gives another body.
    pub(crate) async fn retry(&self, response: Response<Incoming>, note: &mut Note) -> Retried {
        let (mut head, body) = response.into_parts();
        let (pieces, rest) = read_start(body).await;
        let harder = match &rest {
            Rest::Body(_) | Rest::Failed(_) => None,
            Rest::Trailers(_) | Rest::Nothing => {
                let text = Bytes::from(pieces.iter().flatten().copied().collect::<Vec<u8>>());
                let coding = head.headers.get(CONTENT_ENCODING).and_then(|coding| coding.to_str().ok());
                match coding::decode(coding, &text, ERROR_BYTES_MAX) {
                    Ok(text) => self.repair(head.status.as_u16(), text, note).await,
                    Err(_) => None,
                }
            }
        };
        if let Some(Harder { rejected, inspected }) = harder
            && let Some(response) = self.send_again(inspected.repaired.clone(), note).await
        {
            if response.status().is_success() {
                note.record_harder(&inspected, self.sent, response.status().as_u16());
            }
            if let Some(rejected) = rejected.filter(|_| response.status().is_success()) {
                self.forwarding.settings.ledger.reject(self.looked.terms, &rejected, now_ms());
            }
            return Retried::Accepted(response);
        }
        prepare_response(&mut head.headers);
        Retried::Untouched(Response::from_parts(head, ResponseBody::begun(pieces, rest)))
    }

    async fn repair(&self, status: u16, text: Bytes, note: &mut Note) -> Option<Harder> {
        let (lens, options, sent) = (Arc::clone(self.lens), Arc::clone(&self.looked.options), self.sent.clone());
        let repair = move || {
            let text = String::from_utf8_lossy(&text);
            harder::repair(&lens, &options, &sent, &Rejection { status, text: &text })
        };
        // Rejections are rare, and two checks of a long body take their time.
        let attempt = tokio::task::spawn_blocking(repair).await.unwrap_or(Attempt::NotAboutHistory);
        match attempt {
            Attempt::Repaired(harder) => Some(*harder),
            Attempt::NotAboutHistory => None,
            Attempt::NothingLeft(name) => {
                note.report_rejected(name, status, self.sent);
                None
            }
            Attempt::LeftByPolicy(name) => {
                note.report_left(name, status, self.sent);
                None
            }
        }
    }

    /// Sends a stronger repair. Returns the response unless it is a rejection again.
    async fn send_again(&self, body: Option<Bytes>, note: &mut Note) -> Option<Response<Incoming>> {
        let response = self.forwarding.send_new(self.head, body?, note).await?.ok()?;
        if is_possible(response.status()) {
            note.report_rejected("a stronger repair was rejected, too", response.status().as_u16(), self.sent);
            return None;
        }
        Some(response)
    }
}

/// Reads a body until it ends, exceeds the size limit or times out.
async fn read_start(mut body: Incoming) -> (VecDeque<Bytes>, Rest) {
    let mut pieces = VecDeque::new();
    let mut bytes = 0;
    let deadline = tokio::time::Instant::now() + ERROR_TIME;
    while bytes < ERROR_BYTES_MAX {
        match tokio::time::timeout_at(deadline, body.frame()).await {
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(piece) => {
                    bytes += piece.len();
                    pieces.push_back(piece);
                }
                Err(frame) => {
                    return (pieces, frame.into_trailers().map_or(Rest::Nothing, Rest::Trailers));
                }
            },
            Ok(None) => return (pieces, Rest::Nothing),
            // The body has no further frame, and it is not complete.
            Ok(Some(Err(_))) => return (pieces, Rest::Failed(Failing::Begun)),
            Err(_) => break,
        }
    }
    (pieces, Rest::Body(body))
}
