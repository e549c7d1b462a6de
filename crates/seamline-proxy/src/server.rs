//! Accepts connections and serves HTTP/1.1 and HTTP/2 on them, within the limits.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::arrival::{Arrival, Seen};
use crate::config::TrafficLimits;
use crate::handle::{self, handle};
use crate::log;
use crate::response::ResponseBody;
use crate::seats::{Seat, Seats};
use crate::state::{BridgeOrder, Shared};

/// The smallest buffer that hyper takes for a head.
const HEAD_BYTES_MIN: usize = 8192;

/// How long the proxy waits after an accept failed, for example because the process has no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The time between pings on an HTTP/2 connection, and the time until a missing reply closes it.
const PING_TIME: Duration = Duration::from_secs(30);

/// The most requests of one HTTP/2 connection at a time.
const STREAMS_MAX: u32 = 256;

/// Serves requests until `stop` is done, then lets open requests end.
pub(crate) async fn run(listener: TcpListener, shared: Arc<Shared>, stop: impl Future<Output = ()>) {
    let mut limits = shared.settings().config.limits;
    let mut server = Arc::new(builder(&limits));
    let seats = Seats::new(shared.open.connections.clone());
    let count_max = || shared.settings().config.limits.connections_max;
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    // A connection that waits for its place.
    let mut waiting = None;
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            stream = accept(&listener), if waiting.is_none() => waiting = Some(stream),
            seat = seats.take(count_max), if waiting.is_some() => {
                let Some(stream) = waiting.take() else { continue };
                // A reload changes the limits of new connections.
                let now = shared.settings().config.limits;
                if now != limits {
                    (limits, server) = (now, Arc::new(builder(&now)));
                }
                let connection = Connection { server: Arc::clone(&server), shared: Arc::clone(&shared), seat: Arc::new(seat) };
                connections.spawn(connection.serve(stream, graceful.watcher(), limits));
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let drain_time = shared.settings().config.limits.drain_time;
    shared.bridges.send_replace(BridgeOrder::Finish);
    let drained = async {
        graceful.shutdown().await;
        shared.bridges.closed().await;
    };
    if tokio::time::timeout(drain_time, drained).await.is_err() {
        log::warn_of_open_requests(shared.open.requests.get());
    }
    shared.bridges.send_replace(BridgeOrder::End);
    connections.shutdown().await;
}

/// Takes the next connection.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                log::warn_of_refused_connection(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn builder(limits: &TrafficLimits) -> auto::Builder<TokioExecutor> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        // This time also limits the pause between two requests. `Arrival` limits the time of a head that has begun.
        .header_read_timeout(limits.idle_time.max(limits.head_time))
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
    seat: Arc<Seat>,
}

impl Connection {
    async fn serve(self, stream: TcpStream, watcher: Watcher, limits: TrafficLimits) {
        let Self { server, shared, seat } = self;
        // Small pieces of streams must not wait for more.
        let _ = stream.set_nodelay(true);
        let seen = Arc::<Seen>::default();
        let stream = Arrival::new(stream, Arc::clone(&seen), limits.head_bytes_max, limits.head_time);
        let served = Arc::clone(&seat);
        let service = service_fn(move |request| {
            let (shared, seen, seat, busy) =
                (Arc::clone(&shared), Arc::clone(&seen), Arc::clone(&served), served.request());
            async move {
                let mut response = answer(shared, request, &seen, &seat).await;
                response.body_mut().keep_busy(busy);
                Ok::<_, Infallible>(response)
            }
        });
        let connection = server.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let connection = watcher.watch(connection.into_owned());
        tokio::pin!(connection);
        // The time limit of heads starts with their first byte. This one covers a client that sends nothing.
        tokio::select! {
            _ = &mut connection => return,
            () = tokio::time::sleep(limits.head_time) => {}
        }
        if seat.has_request() {
            tokio::select! {
                _ = &mut connection => {}
                () = seat.is_needed() => {}
            }
        }
    }
}

/// Answers a request, unless its length can be read in two ways.
async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    seen: &Seen,
    seat: &Arc<Seat>,
) -> Response<ResponseBody> {
    let version = request.version();
    let mut response = if seen.is_ambiguous() {
        handle::refuse_ambiguous(&shared, &request)
    } else {
        handle(shared, request, seat).await
    };
    // The bytes behind such a request cannot be trusted to be a request.
    let is_over = seen.is_ambiguous() || seen.is_unwatched();
    if is_over && version < Version::HTTP_2 && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
