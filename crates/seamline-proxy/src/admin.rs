//! The pages of the proxy itself, under `/-/`.

use std::net::SocketAddr;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{Response, StatusCode};

use crate::network::is_of_this_machine;
use crate::report::Page;
use crate::response::ResponseBody;
use crate::state::Shared;

/// The page about the health of the proxy. It takes requests, so it is healthy and ready.
pub(crate) fn health(head: &Parts) -> Option<Response<ResponseBody>> {
    let is_health = matches!(head.uri.path(), "/-/healthz" | "/-/readyz");
    let page = || Page { status: 200, content_type: "text/plain; charset=utf-8", body: "ok\n".to_owned() };
    is_health.then(|| response(page()))
}

/// Whether a page may be shown to the client. A proxy that only this machine reaches shows its pages only under a name of
/// this machine: web pages can give it names of their own, and then read what they say.
pub(crate) fn is_for_this_host(head: &Parts, listen: SocketAddr) -> bool {
    let host =
        head.headers.get(HOST).and_then(|host| host.to_str().ok()).and_then(|host| host.parse::<Authority>().ok());
    let host = host.as_ref().or(head.uri.authority());
    // Every browser names the host.
    let is_named = head.headers.contains_key(HOST) || host.is_some();
    !listen.ip().is_loopback() || !is_named || host.is_some_and(|host| is_of_this_machine(host.host()))
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

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    #[test]
    fn pages_are_shown_under_a_name_of_this_machine() {
        let is_shown = |host: &str, listen: &str| {
            let (head, ()) = Request::get("/-/metrics").header(HOST, host).body(()).unwrap().into_parts();
            is_for_this_host(&head, listen.parse().unwrap())
        };
        for host in ["127.0.0.1:4180", "localhost:4180", "LOCALHOST", "[::1]:4180"] {
            assert!(is_shown(host, "127.0.0.1:4180"), "{host}");
        }
        for host in ["evil.example.com", "evil.example.com:4180", "127.0.0.1.example.com", "10.0.0.1"] {
            assert!(!is_shown(host, "127.0.0.1:4180"), "{host}");
            assert!(is_shown(host, "0.0.0.0:4180"), "a token protects it");
        }
        let (head, ()) = Request::get("/-/metrics").body(()).unwrap().into_parts();
        assert!(is_for_this_host(&head, "127.0.0.1:4180".parse().unwrap()), "browsers send the header");
    }
}
