//! Conversations over a WebSocket: Responses of OpenAI.
//!
//! The handshake is forwarded like any request, so the client and the upstream agree on it themselves (without
//! extensions: a compressed message could not be read). Then both connections carry messages. All of them are passed on
//! unchanged, except `response.create` of the client, which is the body of a request, and an error that makes the proxy
//! send a stronger repair of it.

mod turn;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::HeaderMap;
use hyper::header::{self, HeaderName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Utf8Bytes};

use self::turn::{Step, Turns};
use crate::config::StallTimes;
use crate::members::Members;
use crate::observe::Idle;

pub use crate::observe::Stalled;

/// The header that offers extensions of the protocol. It is not forwarded.
pub const EXTENSIONS: HeaderName = header::SEC_WEBSOCKET_EXTENSIONS;

/// How long the other side may take to close its connection.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// The event by which a response ends whose upstream sent nothing for too long.
const SILENT: &str = r#"{"type":"error","status":504,"error":{"type":"server_error","code":"timeout","message":"The response timed out: the provider sent nothing for too long.","param":null}}"#;

/// The event by which a response ends whose upstream sent only signs of life for too long.
const ALIVE: &str = r#"{"type":"error","status":504,"error":{"type":"server_error","code":"timeout","message":"The response timed out: the provider sent signs of life, and no content for too long.","param":null}}"#;

/// The types of events that are signs of life.
const OF_LIFE: [&[u8]; 3] = [br#""keepalive""#, br#""response.in_progress""#, br#""response.queued""#];

/// The event by which a response ends whose upstream closed or broke the connection.
const FAILED: &str = r#"{"type":"error","status":502,"error":{"type":"server_error","code":"server_error","message":"The provider closed the connection before the response was complete.","param":null}}"#;

/// How many messages of the proxy can wait for a client that does not read.
const WAITING_MAX: usize = 8;

/// The bounds of a bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeLimits {
    /// The largest message, in bytes.
    pub message_bytes_max: usize,
    /// The times without progress of a response until a warning and until the end of the bridge.
    pub stall: StallTimes,
}

/// The decision about a `response.create`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameVerdict {
    /// It is passed on as it is.
    Pass,
    /// It is replaced by a repaired one.
    Replace(String),
    /// It is not passed on, and the client gets this event instead.
    Respond(String),
}

/// How a bridge ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BridgeEnd {
    /// One side closed the connection.
    Closed,
    /// The connection to the client broke, or the client sent a message that is not valid or too large.
    ClientFailed,
    /// The connection to the upstream broke, or it sent a message that is not valid or too large.
    UpstreamFailed,
    /// The upstream made no progress with a response for too long.
    Stalled(Stalled),
}

/// Whether a request asks for a WebSocket.
pub fn is_upgrade(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE).and_then(|value| value.to_str().ok());
    upgrade.is_some_and(|protocol| protocol.eq_ignore_ascii_case("websocket"))
}

/// The body of a request, if a message of the client is one: it has the type `response.create`.
pub fn is_create(message: &str) -> bool {
    let kind = Members::get(message.as_bytes(), "type");
    kind == Some(br#""response.create""#)
}

/// The decisions about the messages of a bridge.
pub trait Judge: Sync {
    /// Decides on a `response.create` of the client.
    fn judge(&self, message: Bytes) -> impl Future<Output = FrameVerdict> + Send;

    /// Repairs a `response.create` that the upstream rejected with this event. Returns the message that is sent once
    /// more, if there is one.
    fn retry(&self, sent: Bytes, error: Bytes) -> impl Future<Output = Option<String>> + Send {
        let _ = (sent, error);
        std::future::ready(None)
    }

    /// Hears whether the upstream accepted what was sent once more.
    fn handle_retried(&self, is_accepted: bool) {
        let _ = is_accepted;
    }

    /// Waits until the proxy stops. Then a bridge without an open response closes both connections, any other one when
    /// its responses have ended.
    fn stopping(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
}

impl<J, F> Judge for J
where
    J: Fn(Bytes) -> F + Sync,
    F: Future<Output = FrameVerdict> + Send,
{
    fn judge(&self, message: Bytes) -> impl Future<Output = FrameVerdict> + Send {
        self(message)
    }
}

/// Passes messages between a client and an upstream until one of them closes the connection. Both connections are
/// past their handshake. `judge` decides on each `response.create` of the client.
pub async fn bridge<C, U>(client: C, upstream: U, limits: BridgeLimits, judge: &impl Judge) -> BridgeEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
{
    let config = WebSocketConfig::default()
        .max_message_size(Some(limits.message_bytes_max))
        .max_frame_size(Some(limits.message_bytes_max));
    let client = WebSocketStream::from_raw_socket(client, Role::Server, Some(config)).await;
    let upstream = WebSocketStream::from_raw_socket(upstream, Role::Client, Some(config)).await;
    let (to_client, from_client) = client.split();
    let (to_upstream, from_upstream) = upstream.split();
    let (event, events) = mpsc::channel(WAITING_MAX);
    let (again, retries) = mpsc::channel(1);
    let (client_closed, upstream_closed) = (Notify::new(), Notify::new());
    let shared = Shared { judge, turns: Mutex::default(), asked: Notify::new(), client_closed, upstream_closed, again };
    let up = pass_up(from_client, to_upstream, event, (&shared, retries));
    let down = pass_down(from_upstream, to_client, events, (&shared, Idle::new(limits.stall)));
    tokio::pin!(up, down);
    // After a close, the side that is still open gets the time to close its connection, too.
    tokio::select! {
        end = &mut up => {
            // The other direction tells the client that the upstream failed.
            if matches!(end, BridgeEnd::Closed | BridgeEnd::UpstreamFailed) {
                let _ = tokio::time::timeout(CLOSE_TIME, down).await;
            }
            end
        }
        end = &mut down => {
            if end == BridgeEnd::Closed {
                let _ = tokio::time::timeout(CLOSE_TIME, up).await;
            }
            end
        }
    }
}

/// The state that both directions of a bridge share.
struct Shared<'j, J> {
    judge: &'j J,
    turns: Mutex<Turns>,
    /// Tells the other direction that a response was asked for.
    asked: Notify,
    /// Tells the direction to the client that the client closed its connection, so that it gets a close frame.
    client_closed: Notify,
    /// Tells the direction to the upstream that the upstream, or the proxy, closed that connection.
    upstream_closed: Notify,
    /// Takes what is sent to the upstream once more.
    again: mpsc::Sender<Utf8Bytes>,
}

impl<J> Shared<'_, J> {
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes the messages of the client on, and those that are sent once more.
async fn pass_up<C, U>(
    mut from: SplitStream<WebSocketStream<C>>,
    mut to: SplitSink<WebSocketStream<U>, Message>,
    events: mpsc::Sender<Message>,
    (shared, mut retries): (&Shared<'_, impl Judge>, mpsc::Receiver<Utf8Bytes>),
) -> BridgeEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let message = tokio::select! {
            message = from.next() => message,
            () = shared.upstream_closed.notified() => {
                close(&mut to, None).await;
                continue;
            }
            Some(retry) = retries.recv() => match forward(&mut to, Message::Text(retry)).await {
                Passed::On => continue,
                Passed::Closed => return BridgeEnd::Closed,
                Passed::Failed => return BridgeEnd::UpstreamFailed,
            },
        };
        let message = match message {
            None => break,
            Some(Ok(Message::Text(text))) if is_create(&text) => {
                let text = match shared.judge.judge(Bytes::from(text.clone())).await {
                    FrameVerdict::Pass => text,
                    FrameVerdict::Replace(repaired) => repaired.into(),
                    FrameVerdict::Respond(event) => {
                        if events.send(Message::text(event)).await.is_err() {
                            break;
                        }
                        continue;
                    }
                };
                shared.turns().handle_create(&text);
                shared.asked.notify_one();
                Message::Text(text)
            }
            Some(Ok(message)) => message,
            Some(Err(error)) => {
                close(&mut to, None).await;
                return if is_closed(&error) { BridgeEnd::Closed } else { BridgeEnd::ClientFailed };
            }
        };
        if message.is_close() {
            shared.client_closed.notify_one();
        }
        match forward(&mut to, message).await {
            Passed::On => {}
            Passed::Closed => return BridgeEnd::Closed,
            Passed::Failed => return BridgeEnd::UpstreamFailed,
        }
    }
    close(&mut to, None).await;
    BridgeEnd::Closed
}

/// Passes on the messages of the upstream and those of the proxy.
async fn pass_down<C, U>(
    mut from: SplitStream<WebSocketStream<U>>,
    mut to: SplitSink<WebSocketStream<C>, Message>,
    mut events: mpsc::Receiver<Message>,
    (shared, mut idle): (&Shared<'_, impl Judge>, Idle),
) -> BridgeEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
{
    let stopping = shared.judge.stopping();
    tokio::pin!(stopping);
    let mut is_stopping = false;
    // Whether the client closed its connection. Then only the close frame of the upstream matters.
    let mut is_closed_by_client = false;
    loop {
        if is_stopping && !shared.turns().is_open() {
            shared.upstream_closed.notify_one();
            let reason = CloseFrame { code: 1001.into(), reason: Utf8Bytes::from_static("the proxy stops") };
            close(&mut to, Some(reason)).await;
            return BridgeEnd::Closed;
        }
        let message = tokio::select! {
            () = &mut stopping, if !is_stopping => {
                is_stopping = true;
                continue;
            }
            () = shared.client_closed.notified() => {
                is_closed_by_client = true;
                close(&mut to, None).await;
                continue;
            }
            // The time of a response begins with its request.
            () = shared.asked.notified() => {
                idle.handle_piece(true);
                continue;
            }
            message = from.next() => message,
            Some(event) = events.recv() => Some(Ok(event)),
            how = wait_for_stall(shared, &mut idle) => {
                let event = match how {
                    Stalled::Silent => SILENT,
                    Stalled::Alive => ALIVE,
                };
                let _ = to.send(Message::text(event)).await;
                let reason = CloseFrame { code: 1011.into(), reason: Utf8Bytes::from_static("the upstream stalled") };
                close(&mut to, Some(reason)).await;
                return BridgeEnd::Stalled(how);
            }
        };
        idle.handle_piece(message.as_ref().is_some_and(|message| message.as_ref().is_ok_and(is_progress)));
        let message = match message {
            Some(Ok(message)) if is_closed_by_client && !message.is_close() => continue,
            Some(Ok(Message::Text(event))) => match step(shared, event).await {
                Some(event) => Message::Text(event),
                None => continue,
            },
            Some(Ok(message)) => message,
            Some(Err(error)) if !is_closed(&error) => {
                if shared.turns().is_open() {
                    let _ = to.send(Message::text(FAILED)).await;
                }
                let reason = CloseFrame { code: 1011.into(), reason: Utf8Bytes::from_static("the upstream failed") };
                close(&mut to, Some(reason)).await;
                return BridgeEnd::UpstreamFailed;
            }
            Some(Err(_)) | None => {
                close(&mut to, None).await;
                return BridgeEnd::Closed;
            }
        };
        if message.is_close() {
            shared.upstream_closed.notify_one();
        }
        match forward(&mut to, message).await {
            Passed::On => {}
            Passed::Closed => return BridgeEnd::Closed,
            Passed::Failed => return BridgeEnd::ClientFailed,
        }
    }
}

/// Whether a message of the upstream is more than a sign of life.
fn is_progress(message: &Message) -> bool {
    match message {
        Message::Text(event) => Members::get(event.as_bytes(), "type").is_none_or(|kind| !OF_LIFE.contains(&kind)),
        Message::Ping(_) | Message::Pong(_) => false,
        Message::Binary(_) | Message::Close(_) | Message::Frame(_) => true,
    }
}

/// The event for the client after an event of the upstream; `None` where its request is sent once more.
async fn step(shared: &Shared<'_, impl Judge>, event: Utf8Bytes) -> Option<Utf8Bytes> {
    let step = shared.turns().handle_event(&event);
    match step {
        Step::Pass => Some(event),
        Step::Accepted => {
            shared.judge.handle_retried(true);
            Some(event)
        }
        Step::RejectedAgain(first) => {
            shared.judge.handle_retried(false);
            Some(first)
        }
        Step::Rejected(sent) => {
            let Some(retry) = shared.judge.retry(sent, Bytes::from(event.clone())).await else { return Some(event) };
            // The client did not ask for another response in the meantime, or the error could be about that one.
            if shared.turns().is_open() || shared.again.try_send(retry.into()).is_err() {
                shared.judge.handle_retried(false);
                return Some(event);
            }
            shared.turns().handle_retry(event);
            None
        }
    }
}

/// Waits until the upstream made no progress with a response for too long. The time without a response does not count.
async fn wait_for_stall(shared: &Shared<'_, impl Judge>, idle: &mut Idle) -> Stalled {
    let is_open = shared.turns().is_open();
    std::future::poll_fn(|cx| match is_open.then(|| idle.poll_stalled(cx)).flatten() {
        Some(how) => Poll::Ready(how),
        None => Poll::Pending,
    })
    .await
}

enum Passed {
    On,
    Closed,
    Failed,
}

async fn forward<S>(to: &mut SplitSink<WebSocketStream<S>, Message>, message: Message) -> Passed
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    match &message {
        // Each connection answers its own pings.
        Message::Pong(_) => return Passed::On,
        Message::Close(reason) => {
            close(to, reason.clone()).await;
            return Passed::Closed;
        }
        Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Frame(_) => {}
    }
    match to.send(message).await {
        Ok(()) => Passed::On,
        Err(error) if is_closed(&error) => Passed::Closed,
        Err(_) => Passed::Failed,
    }
}

async fn close<S>(to: &mut SplitSink<WebSocketStream<S>, Message>, reason: Option<CloseFrame>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    // The other side may be gone already. If it closed first, only the reply to it is left to be written.
    let _ = to.send(Message::Close(reason)).await;
    let _ = to.close().await;
}

fn is_closed(error: &tungstenite::Error) -> bool {
    matches!(error, tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed)
}

#[cfg(test)]
mod tests;
