//! The upstreams that the proxy knows without configuration: name, URL and provider.

use std::collections::BTreeMap;

use hyper::Uri;
use hyper::http::uri::{Authority, Scheme};

use crate::Error;

/// An upstream of the built-in list.
pub use seamline::endpoint::KnownServer as BuiltIn;
/// The built-in upstreams. A configuration adds others and overrides these.
pub use seamline::endpoint::SERVERS as BUILT_IN;

/// A server that requests are forwarded to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// The name of the upstream.
    pub name: String,
    /// Whether the connection is encrypted.
    pub scheme: Scheme,
    /// The host and the port.
    pub authority: Authority,
    /// The path before every path of a request; empty, or it starts with a slash and does not end with one.
    pub base_path: String,
    /// The provider whose demands apply; `None` lets the model of each body select it.
    pub provider: Option<String>,
    /// Whether the host is that of another region where a request asks for one, as Bedrock's built-in one is.
    pub is_regional: bool,
}

/// The region of the built-in URL of Bedrock.
const BUILT_IN_REGION: &str = "us-east-1";

/// The name of Bedrock's built-in upstream.
const REGIONAL: &str = "bedrock";

/// The longest name of a region.
const REGION_BYTES_MAX: usize = 32;

impl Upstream {
    /// Whether it is a server of AWS, or one that the settings call so. Only these get signatures of this machine.
    pub(crate) fn is_of_aws(&self) -> bool {
        let host = self.authority.host().to_ascii_lowercase();
        let is_host = host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn");
        is_host || self.provider.as_deref().is_some_and(|provider| provider.starts_with("bedrock"))
    }

    /// Reads the URL of an upstream.
    ///
    /// # Errors
    /// [`Error::Upstream`] where the URL has no host, another scheme than HTTP, or a query.
    pub fn new(name: &str, url: &str, provider: Option<&str>) -> Result<Self, Error> {
        let refuse = |why: String| Error::Upstream { name: name.to_owned(), why };
        if !is_name(name) {
            return Err(refuse("a name has letters, digits, `-`, `_` and `.`".to_owned()));
        }
        let uri: Uri = url.parse().map_err(|error| refuse(format!("{error}")))?;
        let parts = uri.into_parts();
        let scheme = parts
            .scheme
            .filter(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS)
            .ok_or_else(|| refuse("it must start with `http://` or `https://`".to_owned()))?;
        let authority = parts.authority.ok_or_else(|| refuse("it has no host".to_owned()))?;
        if authority.as_str().contains('@') {
            return Err(refuse("it must not hold a user name or a password".to_owned()));
        }
        let path = parts.path_and_query.ok_or_else(|| refuse("it has no host".to_owned()))?;
        if path.query().is_some() {
            return Err(refuse("it must not have a query".to_owned()));
        }
        let base_path = path.path().trim_end_matches('/').to_owned();
        let known = |name: &str| seamline::providers::by_name(name).map(|_| name.to_owned());
        let provider = match provider {
            Some(provider) => {
                Some(known(provider).ok_or_else(|| refuse(format!("no provider is called `{provider}`")))?)
            }
            None => built_in(name).map(|built_in| built_in.provider.to_owned()).or_else(|| known(name)),
        };
        Ok(Self { name: name.to_owned(), scheme, authority, base_path, provider, is_regional: false })
    }

    /// The upstream in a region; `None` where it has one host for all, or no region has this name.
    pub(crate) fn in_region(&self, region: &str) -> Option<Self> {
        let is_name = region.len() <= REGION_BYTES_MAX
            && region.starts_with(|first: char| first.is_ascii_lowercase())
            && region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !self.is_regional || !is_name || region == BUILT_IN_REGION {
            return None;
        }
        // The regions of China have a domain of their own.
        let domain = if region.starts_with("cn-") { ".cn" } else { "" };
        let host = format!("{}{domain}", self.authority.as_str().replacen(BUILT_IN_REGION, region, 1));
        Some(Self { authority: host.parse().ok()?, ..self.clone() })
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name != "-" && name.chars().all(is_letter)
}

/// The built-in upstream with this name.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|built_in| built_in.name == name)
}

/// The upstreams of a proxy, by name.
#[derive(Debug, Clone)]
pub struct Upstreams {
    by_name: BTreeMap<String, std::sync::Arc<Upstream>>,
}

impl Upstreams {
    /// The built-in upstreams and those of a configuration, which override them.
    ///
    /// # Errors
    /// [`Error::Upstream`] where a URL is not usable.
    pub fn new(configured: impl IntoIterator<Item = Upstream>) -> Result<Self, Error> {
        let mut by_name = BTreeMap::new();
        for BuiltIn { name, url, provider } in BUILT_IN {
            let upstream = Upstream { is_regional: *name == REGIONAL, ..Upstream::new(name, url, Some(provider))? };
            by_name.insert((*name).to_owned(), std::sync::Arc::new(upstream));
        }
        for upstream in configured {
            by_name.insert(upstream.name.clone(), std::sync::Arc::new(upstream));
        }
        Ok(Self { by_name })
    }

    /// The upstream with this name.
    pub fn get(&self, name: &str) -> Option<&std::sync::Arc<Upstream>> {
        self.by_name.get(name)
    }

    /// The names of all upstreams.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_upstream_has_a_known_provider() {
        let upstreams = Upstreams::new([]).unwrap();
        for built_in in BUILT_IN {
            assert_eq!(
                upstreams.get(built_in.name).unwrap().provider.as_deref(),
                Some(built_in.provider),
                "{built_in:?}"
            );
        }
    }

    #[test]
    fn a_url_may_have_a_path_and_nothing_behind_it() {
        let upstream = Upstream::new("mine", "http://127.0.0.1:9/a/b/", None).unwrap();
        assert_eq!((upstream.base_path.as_str(), upstream.provider), ("/a/b", None));
        for url in ["127.0.0.1:9", "ftp://x/", "http://u:p@x/", "http://x/?a=1", "/v1", ""] {
            assert!(Upstream::new("mine", url, None).is_err(), "{url}");
        }
        assert!(Upstream::new("a/b", "http://x", None).is_err());
    }

    #[test]
    fn only_the_built_in_host_of_bedrock_has_regions() {
        let upstreams = Upstreams::new([]).unwrap();
        let host = |name: &str, region: &str| {
            upstreams.get(name).unwrap().in_region(region).map(|upstream| upstream.authority.to_string())
        };
        let in_bedrock = |region| host("bedrock", region);
        assert_eq!(in_bedrock("eu-west-1").as_deref(), Some("bedrock-runtime.eu-west-1.amazonaws.com"));
        assert_eq!(in_bedrock("cn-north-1").as_deref(), Some("bedrock-runtime.cn-north-1.amazonaws.com.cn"));
        for region in ["us-east-1", "", "x.example.com", "eu-west-1/", "EU-WEST-1", "@x", &"a".repeat(33)] {
            assert_eq!(in_bedrock(region), None, "{region}");
        }
        assert_eq!(host("openai", "eu-west-1"), None);
        let mine = Upstream::new("bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com", None).unwrap();
        assert_eq!(mine.in_region("eu-west-1"), None, "a configuration names its region");
    }

    #[test]
    fn the_name_of_a_provider_selects_it() {
        assert_eq!(Upstream::new("groq", "http://127.0.0.1:9", None).unwrap().provider.as_deref(), Some("groq"));
        assert!(Upstream::new("x", "http://127.0.0.1:9", Some("nowhere")).is_err());
    }
}
