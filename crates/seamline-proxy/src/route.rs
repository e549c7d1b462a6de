//! Chooses the upstream and the endpoint of a request. Only configured upstreams are reachable.

use std::sync::Arc;

use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use hyper::{HeaderMap, Uri};
use seamline::endpoint::Endpoint;

use crate::sign::SigningScope;
use crate::upstreams::{Upstream, Upstreams};

/// The header that names the upstream of a request.
pub(crate) const UPSTREAM_HEADER: &str = "x-seamline-upstream";

/// The first segment of the proxy's own pages.
const ADMIN: &str = "/-/";

/// The operation that a request asks for.
#[derive(Debug, Clone)]
pub(crate) enum Route {
    /// A page of the proxy itself, by the rest of its path.
    Admin(String),
    /// A request for a server.
    Forward(Target),
}

/// The server that a request goes to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The upstream that the request names.
    pub(crate) upstream: Arc<Upstream>,
    /// The URL at the upstream.
    pub(crate) uri: Uri,
    /// The path behind the name of the upstream.
    pub(crate) path: String,
    /// The endpoint of the upstream.
    pub(crate) endpoint: Endpoint,
}

/// A reason why a request has no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoRoute {
    /// The path names no upstream.
    #[error(
        "the path `{path}` does not name an upstream; use `/NAME/…` with one of: {known}. Your configuration adds others \
         (`--upstream NAME=URL`)"
    )]
    Unknown {
        /// The start of the path.
        path: String,
        /// The names of the upstreams.
        known: String,
    },
    /// The path cannot be joined with the URL of the upstream.
    #[error("the path is not valid behind the URL of the upstream `{0}`")]
    Path(String),
}

impl Route {
    /// The route of a request. `region` is the region of requests to AWS that name none.
    pub(crate) fn of(head: &Parts, upstreams: &Upstreams, region: Option<&str>) -> Result<Self, NoRoute> {
        let path = head.uri.path();
        if let Some(page) = path.strip_prefix(ADMIN) {
            return Ok(Self::Admin(page.to_owned()));
        }
        let named = head.headers.get(UPSTREAM_HEADER).and_then(|name| name.to_str().ok());
        let (upstream, rest) = match named {
            Some(name) => (upstreams.get(name), path),
            None => by_path(path, &head.headers, upstreams),
        };
        let upstream = upstream.ok_or_else(|| NoRoute::unknown(path, upstreams))?;
        let upstream = regional(upstream, &head.headers, region);
        let uri = url(&upstream, rest, head.uri.query()).ok_or_else(|| NoRoute::Path(upstream.name.clone()))?;
        let endpoint = Endpoint::of(head.method.as_str(), rest);
        Ok(Self::Forward(Target { upstream, uri, path: rest.to_owned(), endpoint }))
    }
}

impl NoRoute {
    fn unknown(path: &str, upstreams: &Upstreams) -> Self {
        let end = path.floor_char_boundary(PATH_BYTES_MAX);
        let known = upstreams.names().collect::<Vec<_>>().join(", ");
        Self::Unknown { path: path[..end].to_owned(), known }
    }
}

/// The upstream in the region for which the client signed the request, because a signature is valid in one region only.
fn regional(upstream: &Arc<Upstream>, headers: &HeaderMap, region: Option<&str>) -> Arc<Upstream> {
    if !upstream.is_regional {
        return Arc::clone(upstream);
    }
    let signed = SigningScope::of(headers).map(|scope| scope.region);
    let found = signed.as_deref().or(region).and_then(|region| upstream.in_region(region));
    found.map_or_else(|| Arc::clone(upstream), Arc::new)
}

/// The longest start of a path that an error repeats.
const PATH_BYTES_MAX: usize = 60;

/// The upstream that a path names, and the path behind the name. A path without a name goes to the upstream whose API
/// has such paths.
fn by_path<'u, 'p>(
    path: &'p str,
    headers: &HeaderMap,
    upstreams: &'u Upstreams,
) -> (Option<&'u Arc<Upstream>>, &'p str) {
    let inner = path.strip_prefix('/').unwrap_or(path);
    let name = inner.split('/').next().unwrap_or_default();
    if let Some(upstream) = upstreams.get(name) {
        return (Some(upstream), &inner[name.len()..]);
    }
    let of_api = match name {
        "v1beta" | "v1alpha" => Some("gemini"),
        "model" => Some("bedrock"),
        "v1" if is_of_anthropic(path, headers) => Some("anthropic"),
        "v1" | "chat" | "responses" => Some("openai"),
        "messages" => Some("anthropic"),
        _ => None,
    };
    (of_api.and_then(|name| upstreams.get(name)), path)
}

/// Whether a path under `/v1` is one of Anthropic's API. Both vendors have `/v1/models`; the header tells them apart.
fn is_of_anthropic(path: &str, headers: &HeaderMap) -> bool {
    path.starts_with("/v1/messages") || headers.contains_key("anthropic-version")
}

fn url(upstream: &Upstream, rest: &str, query: Option<&str>) -> Option<Uri> {
    if leaves_base(rest) {
        return None;
    }
    let slash = if rest.starts_with('/') { "" } else { "/" };
    let mut path = format!("{}{slash}{rest}", upstream.base_path);
    if let Some(query) = query {
        path.push('?');
        path.push_str(query);
    }
    let path: PathAndQuery = path.parse().ok()?;
    let uri = Uri::builder().scheme(upstream.scheme.clone()).authority(upstream.authority.clone());
    uri.path_and_query(path).build().ok()
}

/// Whether a path goes above the URL of its upstream by segments such as `..`, also where they are written with percent
/// signs or a server reads them as such.
fn leaves_base(path: &str) -> bool {
    let plain =
        path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/").replace('\\', "/");
    let mut depth = 0_usize;
    for segment in plain.split('/') {
        match segment {
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn target(path: &str, headers: &[(&str, &str)]) -> Result<String, String> {
        let mine = Upstream::new("mine", "http://127.0.0.1:9/base", None).unwrap();
        let upstreams = Upstreams::new([mine]).unwrap();
        let mut request = Request::post(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        match Route::of(&head, &upstreams, Some("eu-north-1")).map_err(|error| error.to_string())? {
            Route::Admin(page) => Ok(format!("admin {page}")),
            Route::Forward(target) => Ok(target.uri.to_string()),
        }
    }

    #[test]
    fn the_first_segment_names_the_upstream() {
        assert_eq!(target("/mine/v1/x?a=%2F&b", &[]).unwrap(), "http://127.0.0.1:9/base/v1/x?a=%2F&b");
        assert_eq!(target("/mine", &[]).unwrap(), "http://127.0.0.1:9/base/");
        assert_eq!(target("/anthropic/v1/messages", &[]).unwrap(), "https://api.anthropic.com/v1/messages");
        assert_eq!(target("/v1/x", &[(UPSTREAM_HEADER, "mine")]).unwrap(), "http://127.0.0.1:9/base/v1/x");
    }

    #[test]
    fn a_well_known_path_goes_to_the_vendor_of_its_api() {
        assert_eq!(target("/v1/messages", &[]).unwrap(), "https://api.anthropic.com/v1/messages");
        assert_eq!(target("/v1/chat/completions", &[]).unwrap(), "https://api.openai.com/v1/chat/completions");
        assert_eq!(target("/v1/models", &[]).unwrap(), "https://api.openai.com/v1/models");
        let anthropic = [("anthropic-version", "2023-06-01")];
        assert_eq!(target("/v1/models", &anthropic).unwrap(), "https://api.anthropic.com/v1/models");
        assert!(target("/v1beta/models/m:generateContent", &[]).unwrap().contains("googleapis.com/v1beta/models/m:"));
    }

    #[test]
    fn the_region_of_the_signature_selects_the_host_of_bedrock() {
        let host = |region: &str| format!("https://bedrock-runtime.{region}.amazonaws.com/model/m/converse");
        let signed = |region: &str| {
            format!(
                "AWS4-HMAC-SHA256 Credential=A/20261118/{region}/bedrock/aws4_request, SignedHeaders=host, Signature=0"
            )
        };
        for path in ["/model/m/converse", "/bedrock/model/m/converse"] {
            for (authorization, region) in [
                (signed("eu-west-1"), "eu-west-1"),
                (signed("us-east-1"), "us-east-1"),
                (signed("example.com#"), "us-east-1"),
                ("Bearer key".to_owned(), "eu-north-1"),
            ] {
                assert_eq!(
                    target(path, &[("authorization", &authorization)]).unwrap(),
                    host(region),
                    "{authorization}"
                );
            }
        }
    }

    #[test]
    fn a_path_does_not_leave_the_url_of_its_upstream() {
        for path in ["/mine/..", "/mine/../x", "/mine/a/../../x", "/mine/%2e%2E/x", "/mine/a/..%2f../x", "/mine/..%5cx"]
        {
            assert!(target(path, &[]).unwrap_err().contains("not valid behind the URL"), "{path}");
        }
        for path in ["/a/../b", "/a..b/...", "/a/./b"] {
            assert_eq!(target(&format!("/mine{path}"), &[]).unwrap(), format!("http://127.0.0.1:9/base{path}"));
        }
    }

    #[test]
    fn an_unknown_upstream_is_refused() {
        for path in ["/", "/example.com/v1", "/http://example.com/", "/MINE/v1", "//mine/x"] {
            assert!(target(path, &[]).unwrap_err().contains("--upstream NAME=URL"), "{path}");
        }
        assert!(target("/mine/v1", &[(UPSTREAM_HEADER, "http://example.com")]).is_err());
        assert_eq!(target("/-/healthz", &[]).unwrap(), "admin healthz");
    }
}
