//! Sends requests to upstreams: pooled connections, verified TLS, HTTP/1.1 and HTTP/2.

use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::UPGRADE;
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::Error;
use crate::body::SentBody;
use crate::config::Config;
use crate::network::Connector;

/// How long an idle connection to an upstream stays open.
const IDLE_TIME: Duration = Duration::from_mins(1);

/// A client of the upstreams.
#[derive(Clone)]
pub(crate) struct UpstreamClient {
    any: Client<HttpsConnector<Connector>, SentBody>,
    /// The client for `WebSocket` connections, which start with HTTP/1.1.
    first: Client<HttpsConnector<Connector>, SentBody>,
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
            builder.build(connector)
        };
        Ok(Self { any: client(any), first: client(first) })
    }

    /// Sends a request and waits for the head of the response.
    pub(crate) async fn send(
        &self,
        request: Request<SentBody>,
        response_time: Duration,
    ) -> Result<Response<Incoming>, NoResponse> {
        // Only HTTP/1.1 can change the protocol of a connection.
        let client = if request.headers().contains_key(UPGRADE) { &self.first } else { &self.any };
        match tokio::time::timeout(response_time, client.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => Err(NoResponse::Unreachable),
            Ok(Err(_)) => Err(NoResponse::Broken),
            Err(_) => Err(NoResponse::Slow(response_time)),
        }
    }
}
