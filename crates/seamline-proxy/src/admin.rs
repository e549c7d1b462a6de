//! The pages of the proxy itself, under `/-/`.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::report::Page;
use crate::response::ResponseBody;
use crate::state::Shared;

/// The page about the health of the proxy. It takes requests, so it is healthy and ready.
pub(crate) fn health(head: &Parts) -> Option<Response<ResponseBody>> {
    let is_health = matches!(head.uri.path(), "/-/healthz" | "/-/readyz");
    let page = || Page { status: 200, content_type: "text/plain; charset=utf-8", body: "ok\n".to_owned() };
    is_health.then(|| response(page()))
}

/// A page that the reporter has.
pub(crate) fn page(shared: &Shared, name: &str) -> Option<Response<ResponseBody>> {
    shared.reporter.page(name, &shared.gauges()).map(response)
}

fn response(page: Page) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(Bytes::from(page.body)));
    *response.status_mut() = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    response
}
