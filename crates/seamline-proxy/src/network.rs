//! The way to an upstream: directly, or through the proxy of the network that the environment names.
//!
//! `hyper-util` reads the variables as curl does. Beside that, an exception can have a port, and this machine is never
//! reached through a proxy.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::Error;

/// The time after which a quiet connection is probed, and the time between probes.
const ALIVE_TIME: Duration = Duration::from_secs(30);

/// The port of a SOCKS proxy whose URL has none.
const SOCKS_PORT: u16 = 1080;

/// The variables that name the proxy of the network.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct NetworkProxy {
    /// The proxy for upstreams with TLS: `HTTPS_PROXY`.
    pub https: String,
    /// The proxy for all upstreams: `ALL_PROXY`.
    pub all: String,
    /// The hosts that are reached directly: `NO_PROXY`.
    pub exceptions: String,
}

impl NetworkProxy {
    /// Reads the variables, in upper or lower case. `variable` gives the value of one.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| variable(name).or_else(|| variable(&name.to_lowercase())).unwrap_or_default();
        let exceptions = exceptions(variable("NO_PROXY"), variable("no_proxy"));
        Self { https: read("HTTPS_PROXY"), all: read("ALL_PROXY"), exceptions }
    }
}

/// The exceptions of both spellings of a variable, each once. `*` stands for every host.
pub(crate) fn exceptions(upper: Option<String>, lower: Option<String>) -> String {
    let both = [upper.unwrap_or_default(), lower.unwrap_or_default()].join(",");
    let mut names = Vec::new();
    for name in both.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.contains(&"*") { "*".to_owned() } else { names.join(",") }
}

impl fmt::Debug for NetworkProxy {
    /// Leaves the URLs out, because they can hold passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkProxy").field("exceptions", &self.exceptions).finish_non_exhaustive()
    }
}

/// The rules by which an upstream is reached.
struct Rules {
    proxies: Matcher,
    /// The exceptions with a port. Each matcher has one host as its exception.
    ports: Vec<(u16, Matcher)>,
}

/// A URL that no exception is about.
fn probe() -> Uri {
    Uri::from_static("https://probe.invalid/")
}

impl Rules {
    fn new(network: &NetworkProxy) -> Result<Self, Error> {
        for (name, url) in [("HTTPS_PROXY", &network.https), ("ALL_PROXY", &network.all)] {
            let is_usable = Matcher::builder().all(url.as_str()).build().intercept(&probe()).is_some_and(|way| {
                let scheme = way.uri().scheme_str();
                matches!(scheme, Some("http" | "https" | "socks5" | "socks5h"))
            });
            if !url.is_empty() && !is_usable {
                // The URL may hold a password, so the error does not repeat it.
                let hint = "hint: `http://HOST:PORT`, `https://HOST:PORT` or `socks5://HOST:PORT`";
                return Err(Error::Config(format!("`{name}`: it is not the URL of a proxy; {hint}")));
            }
        }
        let mut hosts = Vec::new();
        let mut ports = Vec::new();
        for exception in network.exceptions.split(',').map(str::trim).filter(|exception| !exception.is_empty()) {
            let (host, port) = split_port(exception);
            match port {
                None => hosts.push(host),
                Some(port) => ports.push((port, Matcher::builder().all("http://probe.invalid").no(host).build())),
            }
        }
        let proxies = Matcher::builder().https(network.https.as_str()).all(network.all.as_str());
        Ok(Self { proxies: proxies.no(hosts.join(",")).build(), ports })
    }

    /// The proxy that an upstream is reached through; `None` where it is reached directly.
    fn proxy(&self, upstream: &Uri) -> Option<Intercept> {
        let is_excepted =
            |(port, host): &(u16, Matcher)| *port == port_of(upstream) && host.intercept(upstream).is_none();
        if is_of_this_machine(upstream.host()?) || self.ports.iter().any(is_excepted) {
            return None;
        }
        self.proxies.intercept(upstream)
    }
}

/// The host and the port of an exception such as `example.com:8443`, `*.example.com` or `[::1]:80`.
fn split_port(exception: &str) -> (&str, Option<u16>) {
    let parts = match exception.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        // An address of IPv6 without brackets has no port.
        None if exception.matches(':').count() > 1 => (exception, None),
        None => exception.split_once(':').map_or((exception, None), |(host, port)| (host, Some(port))),
    };
    let host = parts.0.strip_prefix('*').filter(|host| host.starts_with('.')).unwrap_or(parts.0);
    (host, parts.1.and_then(|port| port.parse().ok()))
}

fn port_of(upstream: &Uri) -> u16 {
    upstream.port_u16().unwrap_or(if upstream.scheme_str() == Some("http") { 80 } else { 443 })
}

/// Whether a name or an address is one of this machine.
pub(crate) fn is_of_this_machine(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Opens connections to upstreams.
#[derive(Clone)]
pub(crate) struct Connector {
    direct: HttpConnector,
    /// Connects to the proxy of the network, whose own connection can be encrypted.
    to_proxy: HttpsConnector<HttpConnector>,
    rules: Arc<Rules>,
}

/// A connection: plain, or encrypted up to the proxy of the network.
type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Connector {
    pub(crate) fn new(network: &NetworkProxy, connect_time: Duration) -> Result<Self, Error> {
        let mut direct = HttpConnector::new();
        direct.enforce_http(false);
        direct.set_nodelay(true);
        direct.set_connect_timeout(Some(connect_time));
        direct.set_keepalive(Some(ALIVE_TIME));
        direct.set_keepalive_interval(Some(ALIVE_TIME));
        let tls = HttpsConnectorBuilder::new().with_native_roots().map_err(Error::Certificates)?;
        // A tunnel begins with HTTP/1.1.
        let to_proxy = tls.https_or_http().enable_http1().wrap_connector(direct.clone());
        Ok(Self { direct, to_proxy, rules: Arc::new(Rules::new(network)?) })
    }

    async fn connect(mut self, upstream: Uri) -> Result<Stream, Failure> {
        let Some(proxy) = self.rules.proxy(&upstream) else {
            return Ok(MaybeHttpsStream::Http(self.direct.call(upstream).await?));
        };
        let target = with_port(&upstream)?;
        let at = proxy.uri().clone();
        if at.scheme_str().is_some_and(|scheme| scheme.starts_with("socks5")) {
            // The name of the host is resolved by the proxy only where its URL says so, as in curl.
            let address = format!("{}:{}", at.host().unwrap_or_default(), at.port_u16().unwrap_or(SOCKS_PORT));
            let address = Uri::builder().scheme("http").authority(address).path_and_query("/").build()?;
            let mut socks = SocksV5::new(address, self.direct).local_dns(at.scheme_str() == Some("socks5"));
            if let Some((user, password)) = proxy.raw_auth() {
                socks = socks.with_auth(user.to_owned(), password.to_owned());
            }
            return Ok(MaybeHttpsStream::Http(socks.call(target).await?));
        }
        let mut tunnel = Tunnel::new(at, self.to_proxy);
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        Ok(tunnel.call(target).await?)
    }
}

/// The URL of an upstream with its port, which a proxy has to be told.
fn with_port(upstream: &Uri) -> Result<Uri, Failure> {
    let host = upstream.host().unwrap_or_default();
    let scheme = upstream.scheme_str().unwrap_or("https");
    Ok(Uri::builder().scheme(scheme).authority(format!("{host}:{}", port_of(upstream))).path_and_query("/").build()?)
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, Failure>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.direct.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, upstream: Uri) -> Self::Future {
        Box::pin(self.clone().connect(upstream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(exceptions: &str) -> NetworkProxy {
        NetworkProxy {
            https: "http://tls.proxy:1".to_owned(),
            all: "http://u:p@any.proxy:2".to_owned(),
            exceptions: exceptions.to_owned(),
        }
    }

    fn way(network: &NetworkProxy, upstream: &str) -> Option<String> {
        let proxy = Rules::new(network).unwrap().proxy(&upstream.parse().unwrap())?;
        Some(proxy.uri().authority().unwrap().to_string())
    }

    #[test]
    fn the_scheme_selects_the_proxy_and_this_machine_has_none() {
        let way = |upstream: &str| way(&network(""), upstream);
        assert_eq!(way("https://api.example.com/v1").as_deref(), Some("tls.proxy:1"));
        assert_eq!(way("http://10.0.0.1:8000/").as_deref(), Some("any.proxy:2"));
        for local in [
            "http://127.0.0.1:11434",
            "https://localhost",
            "http://a.localhost:1",
            "http://[::1]:9",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert_eq!(way(local), None, "{local}");
        }
        assert_eq!(super::tests::way(&NetworkProxy::default(), "https://api.example.com"), None);
    }

    #[test]
    fn an_exception_is_a_domain_an_address_or_one_of_them_with_a_port() {
        let exceptions =
            "example.com, *.example.org,10.0.0.0/8,[2001:db8::1]:8443,2001:db8::2,[2001:db8::3],other.net:8080";
        let is_direct = |upstream: &str| way(&network(exceptions), upstream).is_none();
        for direct in [
            "https://example.com",
            "https://api.example.com:9",
            "https://a.example.org",
            "http://10.1.2.3",
            "https://[2001:db8::1]:8443",
            "https://[2001:db8::2]",
            "https://[2001:db8::3]:1",
            "http://other.net:8080",
            "http://a.other.net:8080",
        ] {
            assert!(is_direct(direct), "{direct}");
        }
        for proxied in ["https://notexample.com", "https://[2001:db8::1]", "http://other.net", "https://11.0.0.1"] {
            assert!(!is_direct(proxied), "{proxied}");
        }
        assert!(way(&network("*"), "https://example.com").is_none());
        assert!(way(&network("other.net:443"), "https://other.net").is_none());
    }

    #[test]
    fn a_variable_that_is_not_a_proxy_is_an_error_without_its_value() {
        for url in ["ftp://hunter2:1", "://hunter2", "socks4://hunter2"] {
            let network = NetworkProxy { all: url.to_owned(), ..NetworkProxy::default() };
            let error = Rules::new(&network).err().unwrap().to_string();
            assert!(error.contains("ALL_PROXY") && !error.contains("hunter2"), "{error}");
        }
        let lower = |name: &str| (name == "https_proxy").then(|| "http://h:1".to_owned());
        assert_eq!(NetworkProxy::of_environment(lower).https, "http://h:1");
        let both = |name: &str| match name {
            "NO_PROXY" => Some("a.com, b.com".to_owned()),
            "no_proxy" => Some("b.com,c.com".to_owned()),
            _ => None,
        };
        assert_eq!(NetworkProxy::of_environment(both).exceptions, "a.com,b.com,c.com");
        assert_eq!(exceptions(Some("a.com,*".to_owned()), None), "*");
        assert!(!format!("{:?}", network("")).contains("u:p"));
    }
}
