//! Errors of starting and configuring a proxy.

use std::net::SocketAddr;

use thiserror::Error as ThisError;

/// A reason why the proxy cannot start or go on.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The configuration is not readable.
    #[error("cannot read the configuration: {0}")]
    Config(String),
    /// The URL of an upstream is not usable.
    #[error("upstream `{name}` has no usable URL: {why}")]
    Upstream {
        /// The name of the upstream.
        name: String,
        /// The reason why it is not usable.
        why: String,
    },
    /// The address is reachable from other machines, and no access token is set.
    #[error(
        "{0} is reachable from other machines, and the proxy has no access token; hint: set `SEAMLINE_PROXY_TOKEN`, or \
         listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// The port cannot be opened.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address that was asked for.
        address: String,
        /// The cause that the system gives.
        source: std::io::Error,
    },
    /// The certificates of the machine cannot be loaded.
    #[error("cannot load the root certificates of this machine: {0}")]
    Certificates(std::io::Error),
    /// The system starts no thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// The store of incidents cannot be opened.
    #[error("cannot open the store of incidents: {0}")]
    Store(#[from] seamline::store::Error),
}
