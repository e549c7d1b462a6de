//! A fake provider on a loopback port: it takes requests of every dialect, rejects what the strict check rejects in the words
//! of the real provider, and answers like a model that runs one shell command and then says that it is done.
//!
//! Tests of real clients use it in place of paid providers. The first request of a conversation gets a call of the
//! client's own shell tool; a request whose history holds a tool result gets a text. A [`Script`] makes it fail as real
//! providers and networks do.

mod coding;
mod event_stream;
mod exchange;
mod http;
pub(crate) mod reject;
pub(crate) mod reply;
mod route;
mod rules;
mod script;
mod send;
mod server;
mod service;
mod signature;
#[cfg(test)]
mod tests;
pub(crate) mod tools;
mod websocket;

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::Dialect;
use server::{Server, lock};

pub use exchange::{End, Exchange};
pub use http::Headers;
pub use script::{After, HELP, Script};
pub(crate) use {reply::Reply, route::Framing, route::Operation, service::Service};

/// How a provider is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The loopback port; 0 picks a free one.
    pub port: u16,
    /// The command with which the shell tool of a client is called.
    pub command: String,
    /// Whether requests are neither checked nor recorded, for benchmarks. Requests with a script in their headers are
    /// still checked.
    pub is_fast: bool,
}

/// A running fake provider. It ends with the process.
#[derive(Clone, Debug)]
pub struct FakeProvider {
    address: SocketAddr,
    server: Arc<Server>,
}

impl FakeProvider {
    /// Starts a provider on a loopback port; 0 picks a free one. The shell tool of a client is called with `command`.
    ///
    /// # Errors
    ///
    /// Fails when the port is not free.
    pub fn start(port: u16, command: &str) -> std::io::Result<Self> {
        Self::start_with(Options { port, command: command.to_owned(), is_fast: false })
    }

    /// Starts a provider.
    ///
    /// # Errors
    ///
    /// Fails when the port is not free.
    pub fn start_with(options: Options) -> std::io::Result<Self> {
        let (server, address) = Server::start(options)?;
        Ok(Self { address, server })
    }

    /// The address of the provider.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the provider.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Gives the next request this script. Several calls queue up.
    pub fn next(&self, script: Script) {
        lock(&self.server.rules).push_next(script);
    }

    /// Gives the requests of one connection this script; connections count from zero.
    pub fn on_connection(&self, number: usize, script: Script) {
        lock(&self.server.rules).push_connection(number, script);
    }

    /// Gives the requests whose path or query contains a text this script.
    pub fn on_path(&self, part: &str, script: Script) {
        lock(&self.server.rules).push_path(part, script);
    }

    /// Gives every request that has no other script this one.
    pub fn always(&self, script: Script) {
        lock(&self.server.rules).set_always(script);
    }

    /// Removes and returns the exchanges so far, in their order.
    pub fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut lock(&self.server.exchanges))
    }

    /// Waits until so many exchanges are recorded and have ended, or the time is over; then removes and returns all.
    pub fn wait(&self, count: usize, time: Duration) -> Vec<Exchange> {
        let start = Instant::now();
        let has_ended = || lock(&self.server.exchanges).iter().filter(|exchange| exchange.end().is_some()).count();
        while has_ended() < count && start.elapsed() < time {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.take()
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.server.connections.load(Ordering::Relaxed)
    }

    /// The number of open connections.
    pub fn open_connections(&self) -> usize {
        self.server.open.load(Ordering::Relaxed)
    }

    /// Takes no new connections. Open ones go on.
    pub fn stop(&self) {
        self.server.is_stopped.store(true, Ordering::Relaxed);
        // The listener looks at the mark when it takes this connection.
        let _ = TcpStream::connect(self.address);
    }
}

/// The status and body with which the provider of a dialect rejects the bytes of a request; nothing if it accepts them.
pub fn rejection(dialect: Dialect, bytes: &[u8]) -> Option<(u16, String)> {
    let reply = match serde_json::from_slice(bytes) {
        Err(error) => reject::not_json(dialect, &error),
        Ok(body) => match reject::violations(dialect, &body, "") {
            violations if violations.is_empty() => return None,
            violations => reject::rejection(dialect, &body, &violations),
        },
    };
    Some((reply.status, String::from_utf8_lossy(&reply.frames.concat()).into_owned()))
}
