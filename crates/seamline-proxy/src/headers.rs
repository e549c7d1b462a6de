//! The headers that belong to one connection and not to the message, and those of the proxy itself.

use hyper::HeaderMap;
use hyper::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

/// The start of the names of headers that are for the proxy itself.
const OWN: &str = "x-seamline-";

/// The word before a token.
const BEARER: &[u8] = b"bearer ";

/// The header with the access token of the proxy.
pub(crate) const TOKEN: &str = "x-seamline-token";

/// The header by which a circle of proxies is found. Only upstreams on this machine get it.
pub(crate) const HOPS: HeaderName = HeaderName::from_static("x-seamline-hops");

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
    // The length of a body that is empty is not set again, and some servers ask for it.
    if headers.get(CONTENT_LENGTH).is_none_or(|length| length != "0") {
        headers.remove(CONTENT_LENGTH);
    }
    // The proxy has answered the expectation of the client when it reads the body.
    for name in [HOST, EXPECT] {
        headers.remove(name);
    }
    join_cookies(headers);
    let own = headers.keys().filter(|name| name.as_str().starts_with(OWN)).cloned().collect::<Vec<_>>();
    for name in own {
        headers.remove(name);
    }
}

/// The number of proxies that a request has behind it.
pub(crate) fn hops(headers: &HeaderMap) -> u32 {
    headers.get(HOPS).and_then(|hops| hops.to_str().ok()?.parse().ok()).unwrap_or_default()
}

/// Joins the cookies that HTTP/2 lets a client send apart: HTTP/1.1 has one header for them (RFC 9113, 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let cookies: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if cookies.len() < 2 {
        return;
    }
    if let Ok(joined) = HeaderValue::from_bytes(&cookies.join(&b"; "[..])) {
        headers.insert(COOKIE, joined);
    }
}

/// The token in a header such as `Bearer TOKEN`. The word before it is read in any case.
pub(crate) fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (word, token) = value.as_bytes().split_at_checked(BEARER.len())?;
    word.eq_ignore_ascii_case(BEARER).then(|| token.trim_ascii_start())
}

/// Removes the headers that describe the bytes of a body that was replaced.
pub(crate) fn describe_new_body(headers: &mut HeaderMap) {
    headers.remove(CONTENT_ENCODING);
    // The trailers of the client were about the bytes that are replaced.
    headers.remove(TRAILER);
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
            ("x-seamline-session", "s-1"),
            ("cookie", "a=1"),
            ("cookie", "b=2"),
            ("proxy-authorization", "Bearer secret"),
            ("authorization", "Bearer key"),
            ("accept-encoding", "gzip, br"),
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        prepare_request(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept-encoding", "authorization", "cookie", "te"]);
        assert_eq!(headers.get_all(COOKIE).iter().collect::<Vec<_>>(), ["a=1; b=2"]);
    }

    #[test]
    fn the_length_of_an_empty_body_stays() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        prepare_request(&mut headers);
        assert_eq!(headers.get(CONTENT_LENGTH), Some(&HeaderValue::from_static("0")));
    }

    #[test]
    fn the_word_before_a_token_is_read_in_any_case() {
        for (value, token) in
            [("Bearer a", Some("a")), ("bearer  a", Some("a")), ("BEARER a", Some("a")), ("Basic a", None)]
        {
            assert_eq!(bearer(&HeaderValue::from_static(value)), token.map(str::as_bytes), "{value}");
        }
    }
}
