//! A middleware for clients of `reqwest-middleware`.

use bytes::Bytes;
use http::Extensions;
use reqwest::{Body, Request, Response, ResponseBuilderExt as _};
use reqwest_middleware::{Error, Middleware, Next, Result};

use crate::body::ResponseBody;
use crate::repairer::{Exchange, Repairer, fit_headers};

/// Repairs the requests of a client of `reqwest-middleware`.
///
/// ```
/// use seamline_http::{RepairMiddleware, Repairer};
///
/// let client = reqwest_middleware::ClientBuilder::new(reqwest::Client::new())
///     .with(RepairMiddleware::new(Repairer::new()))
///     .build();
/// ```
#[derive(Debug, Clone, Default)]
pub struct RepairMiddleware {
    repairer: Repairer,
}

impl RepairMiddleware {
    /// Makes a middleware.
    pub fn new(repairer: Repairer) -> Self {
        Self { repairer }
    }
}

#[async_trait::async_trait]
impl Middleware for RepairMiddleware {
    async fn handle(&self, mut request: Request, extensions: &mut Extensions, next: Next<'_>) -> Result<Response> {
        let exchange = self.repairer.exchange(request.method(), request.url().as_str(), request.headers());
        // A body that is a stream can be read only once, so it is for its sender to check.
        let body = request.body().and_then(Body::as_bytes).map(Bytes::copy_from_slice);
        let (Some(exchange), Some(body)) = (exchange, body) else { return next.run(request, extensions).await };
        let sent = exchange.outgoing(&body).map_err(Error::middleware)?;
        set_body(&mut request, &sent);
        let again = request.try_clone();
        let response = next.clone().run(request, extensions).await?;
        let (Some(mut again), true) = (again, exchange.may_repair_after(response.status())) else {
            return Ok(watched(&exchange, response));
        };
        let url = response.url().clone();
        let (head, body) = http::Response::<Body>::from(response).into_parts();
        let (text, body) = ResponseBody::read_error(body).await;
        let first = |head, body| rebuilt(http::Response::from_parts(head, Body::wrap(body)), url);
        let harder = text.and_then(|text| exchange.after_rejection(&sent, head.status, &text));
        let Some(harder) = harder else { return Ok(first(head, body)) };
        set_body(&mut again, &harder);
        // The first error tells more about the history that the caller has.
        match next.run(again, extensions).await {
            Ok(response) if !exchange.may_repair_after(response.status()) => Ok(watched(&exchange, response)),
            _ => Ok(first(head, body)),
        }
    }
}

fn set_body(request: &mut Request, body: &Bytes) {
    fit_headers(request.headers_mut(), body);
    *request.body_mut() = Some(Body::from(body.clone()));
}

fn watched(exchange: &Exchange, response: Response) -> Response {
    let Some(watch) = exchange.watch(response.status(), response.headers()) else { return response };
    let url = response.url().clone();
    let response = http::Response::<Body>::from(response);
    rebuilt(response.map(|body| Body::wrap(ResponseBody::new(body, Some(watch)))), url)
}

/// A response of `reqwest` with the URL that it came from.
fn rebuilt(response: http::Response<Body>, url: reqwest::Url) -> Response {
    let (mut head, body) = response.into_parts();
    if let Ok((from, ())) = http::Response::builder().url(url).body(()).map(http::Response::into_parts) {
        head.extensions.extend(from.extensions);
    }
    http::Response::from_parts(head, body).into()
}
