//! A layer for services of `tower` and clients of `hyper`.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt as _;
use tower_layer::Layer;
use tower_service::Service;

use crate::body::{BoxError, ResponseBody};
use crate::repairer::{Exchange, Repairer, fit_headers};

/// Wraps a client so that it repairs its requests.
///
/// The client takes `Request<B>` where `B` can be made of bytes: `Full<Bytes>`, `reqwest::Body`, `axum::body::Body`.
/// The URL of the request must be absolute, as clients need it.
#[derive(Debug, Clone, Default)]
pub struct RepairLayer {
    repairer: Repairer,
}

impl RepairLayer {
    /// Makes a layer.
    pub fn new(repairer: Repairer) -> Self {
        Self { repairer }
    }
}

impl<S> Layer<S> for RepairLayer {
    type Service = RepairService<S>;

    fn layer(&self, inner: S) -> RepairService<S> {
        RepairService { inner, repairer: self.repairer.clone() }
    }
}

/// A client that repairs its requests.
#[derive(Debug, Clone)]
pub struct RepairService<S> {
    inner: S,
    repairer: Repairer,
}

impl<S, B, R> Service<Request<B>> for RepairService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body + From<Bytes> + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
    R: Body + Send + 'static,
    R::Data: Send,
    R::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody<R>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The clone that was polled ready makes the call; the other one stays for the next request.
        let unready = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, unready);
        let url = request.uri().to_string();
        let exchange = self.repairer.exchange(request.method(), &url, request.headers());
        Box::pin(async move {
            if let Some(exchange) = exchange {
                return send(&mut inner, exchange, request).await;
            }
            let response = inner.call(request).await.map_err(Into::into)?;
            Ok(response.map(|body| ResponseBody::new(body, None)))
        })
    }
}

async fn send<S, B, R>(
    client: &mut S,
    exchange: Exchange,
    request: Request<B>,
) -> Result<Response<ResponseBody<R>>, BoxError>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    B: Body + From<Bytes>,
    B::Error: Into<BoxError>,
    R: Body,
    R::Error: Into<BoxError>,
{
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(Into::into)?.to_bytes();
    let sent = exchange.outgoing(&body)?;
    let response = client.call(with_body(head.clone(), &sent)).await.map_err(Into::into)?;
    if !exchange.may_repair_after(response.status()) {
        return Ok(watched(&exchange, response));
    }
    let (response_head, body) = response.into_parts();
    let (text, body) = ResponseBody::read_error(body).await;
    let again = text.and_then(|text| exchange.after_rejection(&sent, response_head.status, &text));
    let Some(again) = again else { return Ok(Response::from_parts(response_head, body)) };
    // The first error tells more about the history that the caller has.
    match second(client, with_body(head, &again)).await {
        Some(response) if !exchange.may_repair_after(response.status()) => Ok(watched(&exchange, response)),
        _ => Ok(Response::from_parts(response_head, body)),
    }
}

/// The response to the second try; `None` where the connection fails.
async fn second<S, B, R>(client: &mut S, request: Request<B>) -> Option<Response<R>>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    poll_fn(|cx| client.poll_ready(cx)).await.ok()?;
    client.call(request).await.ok()
}

fn with_body<B: From<Bytes>>(mut head: Parts, body: &Bytes) -> Request<B> {
    fit_headers(&mut head.headers, body);
    Request::from_parts(head, B::from(body.clone()))
}

fn watched<R>(exchange: &Exchange, response: Response<R>) -> Response<ResponseBody<R>> {
    let watch = exchange.watch(response.status(), response.headers());
    response.map(|body| ResponseBody::new(body, watch))
}
