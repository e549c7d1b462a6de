//! Accepts connections and serves HTTP/1.1 and HTTP/2 on them, within the limits.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::config::TrafficLimits;
use crate::handle::handle;
use crate::state::Shared;

/// The smallest buffer that hyper takes for a head.
const HEAD_BYTES_MIN: usize = 8192;

/// How long the proxy waits after an accept failed, for example because the process has no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The time between pings on an HTTP/2 connection, and the time until a missing answer closes it.
const PING_TIME: Duration = Duration::from_secs(30);

/// The most requests of one HTTP/2 connection at a time.
const STREAMS_MAX: u32 = 256;

/// Serves requests until `stop` is done, then lets open requests end.
pub(crate) async fn run(listener: TcpListener, shared: Arc<Shared>, stop: impl Future<Output = ()>) {
    let limits = shared.settings().config.limits;
    let server = Arc::new(server(&limits));
    let slots = Arc::new(Semaphore::new(limits.connections_max.clamp(1, Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            (stream, slot) = accept(&listener, &slots) => {
                let connection = Connection { server: Arc::clone(&server), shared: Arc::clone(&shared), slot };
                connections.spawn(connection.serve(stream, graceful.watcher(), limits.head_time));
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let drain_time = shared.settings().config.limits.drain_time;
    let drained = async {
        graceful.shutdown().await;
        shared.bridges.closed().await;
    };
    if tokio::time::timeout(drain_time, drained).await.is_err() {
        tracing::warn!(requests = shared.open.requests.get(), "requests were still open at the end of the drain time");
    }
    shared.bridges.send_replace(true);
    connections.shutdown().await;
}

/// Takes the next connection once fewer than the most are open.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed.
    let slot = Arc::clone(slots).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, slot),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn server(limits: &TrafficLimits) -> auto::Builder<TokioExecutor> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head_bytes_max.max(HEAD_BYTES_MIN))
        .max_headers(limits.headers_max);
    server
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
        .max_concurrent_streams(STREAMS_MAX)
        .keep_alive_interval(PING_TIME)
        .keep_alive_timeout(PING_TIME)
        .adaptive_window(true);
    server
}

/// A connection of a client.
struct Connection {
    server: Arc<auto::Builder<TokioExecutor>>,
    shared: Arc<Shared>,
    /// The place among the most connections.
    slot: Option<OwnedSemaphorePermit>,
}

impl Connection {
    async fn serve(self, stream: TcpStream, watcher: Watcher, head_time: Duration) {
        let Self { server, shared, slot } = self;
        let _open = shared.open.connections.enter();
        // Small pieces of streams must not wait for more.
        let _ = stream.set_nodelay(true);
        let has_request = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&has_request);
        let service = service_fn(move |request| {
            seen.store(true, Ordering::Relaxed);
            let shared = Arc::clone(&shared);
            async move { Ok::<_, Infallible>(handle(shared, request).await) }
        });
        let connection = server.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let connection = watcher.watch(connection.into_owned());
        tokio::pin!(connection);
        // The time limit of heads starts when the protocol is known. This one covers the first bytes, which tell it.
        tokio::select! {
            _ = &mut connection => {}
            () = tokio::time::sleep(head_time) => {
                if has_request.load(Ordering::Relaxed) {
                    let _ = connection.await;
                }
            }
        }
        drop(slot);
    }
}
