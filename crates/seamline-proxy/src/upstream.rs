//! Sends requests to upstreams: pooled connections, verified TLS, HTTP/1.1 and HTTP/2.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::UPGRADE;
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::Instant;

use crate::Error;
use crate::body::SentBody;
use crate::config::Config;
use crate::network::Connector;

/// How long an idle connection to an upstream stays open.
const IDLE_TIME: Duration = Duration::from_mins(1);

/// The most headers of a response. Gateways add many, and the model has run when they arrive.
const HEADERS_MAX: usize = 1000;

/// The time between pings on an HTTP/2 connection with open requests, and the time until a missing reply closes it. A
/// model can think for minutes without a byte, and networks forget quiet connections.
const ALIVE_TIME: Duration = Duration::from_secs(30);

/// A client of the upstreams.
#[derive(Clone)]
pub(crate) struct UpstreamClient {
    any: Client<HttpsConnector<Connector>, Timed>,
    /// The client for `WebSocket` connections, which start with HTTP/1.1.
    first: Client<HttpsConnector<Connector>, Timed>,
}

/// The body of a request, and when its last piece left.
struct Timed {
    body: SentBody,
    last: Arc<Mutex<Instant>>,
}

impl Body for Timed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(cx);
        if polled.is_ready() {
            *this.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A reason why an upstream did not respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoResponse {
    /// No connection could be opened.
    #[error("the upstream could not be reached")]
    Unreachable,
    /// The connection failed before the response.
    #[error("the upstream closed the connection before it responded")]
    Broken,
    /// The response did not start in time.
    #[error("the upstream did not respond within {} s", .0.as_secs())]
    Slow(Duration),
}

impl UpstreamClient {
    /// A client with the root certificates of this machine.
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let connector = Connector::new(&config.network, config.limits.connect_time)?;
        let tls = || {
            let builder = HttpsConnectorBuilder::new().with_native_roots().map_err(Error::Certificates)?;
            Ok::<_, Error>(builder.https_or_http())
        };
        let any = tls()?.enable_http1().enable_http2().wrap_connector(connector.clone());
        let first = tls()?.enable_http1().wrap_connector(connector);
        let client = |connector| {
            let mut builder = Client::builder(TokioExecutor::new());
            builder.pool_idle_timeout(IDLE_TIME).pool_timer(TokioTimer::new()).timer(TokioTimer::new());
            builder.http1_max_headers(HEADERS_MAX);
            builder.http2_keep_alive_interval(ALIVE_TIME).http2_keep_alive_timeout(ALIVE_TIME);
            builder.build(connector)
        };
        Ok(Self { any: client(any), first: client(first) })
    }

    /// Sends a request and waits for the head of the response. The time begins when the last byte has left.
    pub(crate) async fn send(
        &self,
        request: Request<SentBody>,
        response_time: Duration,
    ) -> Result<Response<Incoming>, NoResponse> {
        // Only HTTP/1.1 can change the protocol of a connection.
        let client = if request.headers().contains_key(UPGRADE) { &self.first } else { &self.any };
        let last = Arc::new(Mutex::new(Instant::now()));
        let due = || *last.lock().unwrap_or_else(PoisonError::into_inner) + response_time;
        let timed = |body| Timed { body, last: Arc::clone(&last) };
        let mut response = client.request(request.map(timed));
        loop {
            match tokio::time::timeout_at(due(), &mut response).await {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(error)) if error.is_connect() => return Err(NoResponse::Unreachable),
                Ok(Err(_)) => return Err(NoResponse::Broken),
                Err(_) if due() > Instant::now() => {}
                Err(_) => return Err(NoResponse::Slow(response_time)),
            }
        }
    }
}
