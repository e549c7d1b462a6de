//! A running proxy, and the handle to control it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;

use crate::config::Config;
use crate::report::{Gauges, Reporter};
use crate::sign::Signer;
use crate::state::Shared;
use crate::{Error, server};

/// A proxy that listens.
pub struct Proxy {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Opens the port. Requests are taken once the proxy [runs](Self::run).
    ///
    /// # Errors
    /// Where the configuration is not usable, the address is open to other machines without an access token, or the port
    /// is taken.
    pub async fn bind(config: Config, reporter: Arc<dyn Reporter>) -> Result<Self, Error> {
        Self::bind_with(config, reporter, Signer::from_environment()).await
    }

    /// The same, with a signer of its own for requests to AWS.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub async fn bind_with(config: Config, reporter: Arc<dyn Reporter>, signer: Signer) -> Result<Self, Error> {
        if !config.listen.ip().is_loopback() && config.token.as_deref().is_none_or(str::is_empty) {
            return Err(Error::Open(config.listen));
        }
        let asked = config.listen;
        let listen_error = |source| Error::Listen { address: asked.to_string(), source };
        let shared = Arc::new(Shared::new(config, reporter, signer)?);
        let listener = TcpListener::bind(asked).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        Ok(Self { listener, address, shared })
    }

    /// The address that the proxy listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The handle that controls the proxy while it runs.
    pub fn control(&self) -> Control {
        Control { shared: Arc::clone(&self.shared) }
    }

    /// Takes requests until `stop` is done. Then open requests have the drain time of the limits to end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        server::run(self.listener, self.shared, stop).await;
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Controls a running proxy.
#[derive(Clone)]
pub struct Control {
    shared: Arc<Shared>,
}

impl Control {
    /// Uses another configuration for new requests. The address and the store of the ledger stay,
    /// and so do the limits of connections that are open.
    ///
    /// # Errors
    /// Where the configuration is not usable; the old one stays in use.
    pub fn reload(&self, config: Config) -> Result<(), Error> {
        let listen = self.shared.settings().config.listen;
        if !listen.ip().is_loopback() && config.token.as_deref().is_none_or(str::is_empty) {
            return Err(Error::Open(listen));
        }
        let ledger_store = self.shared.settings().config.ledger_store.clone();
        self.shared.reload(Config { listen, ledger_store, ..config })
    }

    /// Counts the open connections and stored items of the proxy at this moment.
    pub fn gauges(&self) -> Gauges {
        self.shared.gauges()
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("gauges", &self.gauges()).finish()
    }
}
