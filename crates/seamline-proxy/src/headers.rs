//! The headers that belong to one connection and not to the message, and those of the proxy itself.

use hyper::HeaderMap;
use hyper::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

use crate::route::UPSTREAM_HEADER;

/// The header with the access token of the proxy.
pub(crate) const TOKEN: &str = "x-seamline-token";

/// The response headers of the proxy.
pub(crate) const FINDINGS: HeaderName = HeaderName::from_static("x-seamline-findings");
pub(crate) const REPAIRS: HeaderName = HeaderName::from_static("x-seamline-repairs");
pub(crate) const INCIDENT: HeaderName = HeaderName::from_static("x-seamline-incident");

/// The headers of one connection (RFC 9110, 7.6.1), and the older ones that clients still send.
static OF_CONNECTION: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Removes the headers that end at this connection.
pub(crate) fn remove_of_connection(headers: &mut HeaderMap) {
    let listed = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = listed.flat_map(|value| value.split(',')).map(str::trim);
    // The usual words do not name headers.
    let names = names.filter(|name| !name.eq_ignore_ascii_case("keep-alive") && !name.eq_ignore_ascii_case("close"));
    let named: Vec<HeaderName> = names.filter_map(|name| name.parse().ok()).collect();
    for name in named.iter().chain(&OF_CONNECTION) {
        headers.remove(name);
    }
}

/// Makes the headers of a request fit for the upstream. The length is set again for the body that is sent.
pub(crate) fn prepare_request(headers: &mut HeaderMap) {
    let wants_trailers = headers.get(TE).is_some_and(|te| te.as_bytes().eq_ignore_ascii_case(b"trailers"));
    remove_of_connection(headers);
    if wants_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    // The proxy has answered the expectation of the client when it reads the body.
    for name in [HOST, CONTENT_LENGTH, EXPECT] {
        headers.remove(name);
    }
    for name in [UPSTREAM_HEADER, TOKEN] {
        headers.remove(name);
    }
}

/// Removes the headers that describe the bytes of a body that was replaced.
pub(crate) fn describe_new_body(headers: &mut HeaderMap) {
    headers.remove(CONTENT_ENCODING);
    for name in ["content-md5", "digest", "content-digest", "repr-digest"] {
        headers.remove(name);
    }
}

/// Makes the headers of a response fit for the client.
pub(crate) fn prepare_response(headers: &mut HeaderMap) {
    let trailer = headers.get(TRAILER).cloned();
    remove_of_connection(headers);
    if let Some(trailer) = trailer {
        headers.insert(TRAILER, trailer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_and_of_the_proxy_do_not_reach_the_upstream() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, x-mine"),
            ("x-mine", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("host", "127.0.0.1:4180"),
            ("content-length", "2"),
            ("x-seamline-upstream", "openai"),
            ("x-seamline-token", "secret"),
            ("proxy-authorization", "Bearer secret"),
            ("authorization", "Bearer key"),
            ("accept-encoding", "gzip, br"),
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        prepare_request(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept-encoding", "authorization", "te"]);
    }
}
