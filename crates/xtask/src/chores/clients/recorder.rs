//! A relay on a loopback port that keeps the bytes of the requests that pass through it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

use super::message::{self, Request};

/// How long a server may take for the first byte, and a client for its next request.
const SILENCE: Duration = Duration::from_mins(5);

/// The bytes of a connection that no request was cut from yet.
type Bytes = Arc<Mutex<Vec<u8>>>;

/// A running relay. It ends with the process.
pub(super) struct Recorder {
    pub(super) url: String,
    target: Arc<Mutex<SocketAddr>>,
    connections: Arc<Mutex<Vec<Bytes>>>,
}

impl Recorder {
    /// Starts a relay to a server.
    pub(super) fn start(target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("cannot start a recorder")?;
        let url = format!("http://{}", listener.local_addr()?);
        let recorder = Self { url, target: Arc::new(Mutex::new(target)), connections: Arc::default() };
        let (target, connections) = (Arc::clone(&recorder.target), Arc::clone(&recorder.connections));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let bytes = Bytes::default();
                lock(&connections).push(Arc::clone(&bytes));
                let target = *lock(&target);
                // A connection that breaks is for the client to report.
                std::thread::spawn(move || relay(&client, target, &bytes));
            }
        });
        Ok(recorder)
    }

    /// Sends new connections to another server.
    pub(super) fn aim(&self, target: SocketAddr) {
        *lock(&self.target) = target;
    }

    /// Removes and returns the complete requests so far, by connection.
    pub(super) fn take(&self) -> Vec<Request> {
        let mut connections = lock(&self.connections);
        let requests = connections.iter().flat_map(|bytes| message::take_requests(&mut lock(bytes))).collect();
        // The relay of a closed connection has dropped its share.
        connections.retain(|bytes| Arc::strong_count(bytes) > 1);
        requests
    }
}

/// The address in a URL without a path.
pub(super) fn address(url: &str) -> Result<SocketAddr> {
    let host = url.trim_start_matches("http://");
    host.parse().with_context(|| format!("`{url}` is not the URL of a loopback address"))
}

fn relay(client: &TcpStream, target: SocketAddr, bytes: &Mutex<Vec<u8>>) -> std::io::Result<()> {
    let server = TcpStream::connect(target)?;
    for stream in [client, &server] {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
    }
    std::thread::scope(|scope| {
        scope.spawn(|| copy(&server, client, |_| ()));
        copy(client, &server, |piece| lock(bytes).extend(piece));
    });
    Ok(())
}

/// Copies until the end, then closes the writing side as the other end did.
fn copy(mut from: &TcpStream, mut to: &TcpStream, keep: impl Fn(&[u8])) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length) = from.read(&mut buffer) {
        keep(&buffer[..length]);
        if length == 0 || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
