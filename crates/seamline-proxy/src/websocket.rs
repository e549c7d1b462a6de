//! Conversations over a WebSocket: Responses of OpenAI.
//!
//! The handshake is forwarded like any request, so the client and the upstream agree on it themselves (without
//! extensions: a compressed message could not be read). Then both connections carry messages. All of them are passed on
//! unchanged, except `response.create` of the client, which is the body of a request.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::HeaderMap;
use hyper::header::{self, HeaderName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Utf8Bytes};

use crate::members::Members;

/// The header that offers extensions of the protocol. It is not forwarded.
pub const EXTENSIONS: HeaderName = header::SEC_WEBSOCKET_EXTENSIONS;

/// How long the other side may take to close its connection.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// How many messages of the proxy can wait for a client that does not read.
const ANSWERS_MAX: usize = 8;

/// The bounds of a bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeLimits {
    /// The largest message, in bytes.
    pub message_bytes_max: usize,
}

/// The decision about a `response.create`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameVerdict {
    /// It is passed on as it is.
    Pass,
    /// It is replaced by a repaired one.
    Replace(String),
    /// It is not passed on, and the client gets this event instead.
    Answer(String),
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

/// Passes messages between a client and an upstream until one of them closes the connection. Both connections are
/// past their handshake. `inspect` decides on each `response.create` of the client.
pub async fn bridge<C, U, F>(client: C, upstream: U, limits: BridgeLimits, inspect: impl FnMut(Bytes) -> F) -> BridgeEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = FrameVerdict>,
{
    let config = WebSocketConfig::default()
        .max_message_size(Some(limits.message_bytes_max))
        .max_frame_size(Some(limits.message_bytes_max));
    let client = WebSocketStream::from_raw_socket(client, Role::Server, Some(config)).await;
    let upstream = WebSocketStream::from_raw_socket(upstream, Role::Client, Some(config)).await;
    let (to_client, from_client) = client.split();
    let (to_upstream, from_upstream) = upstream.split();
    let (answer, answers) = mpsc::channel(ANSWERS_MAX);
    let up = pass_up(from_client, to_upstream, answer, inspect);
    let down = pass_down(from_upstream, to_client, answers);
    tokio::pin!(up, down);
    // After a close, the side that is still open gets the time to close its connection, too.
    tokio::select! {
        end = &mut up => {
            if end == BridgeEnd::Closed {
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

/// Passes the messages of the client on.
async fn pass_up<C, U, F>(
    mut from: SplitStream<WebSocketStream<C>>,
    mut to: SplitSink<WebSocketStream<U>, Message>,
    answers: mpsc::Sender<Message>,
    mut inspect: impl FnMut(Bytes) -> F,
) -> BridgeEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = FrameVerdict>,
{
    while let Some(message) = from.next().await {
        let message = match message {
            Ok(Message::Text(text)) if is_create(&text) => match inspect(Bytes::from(text.clone())).await {
                FrameVerdict::Pass => Message::Text(text),
                FrameVerdict::Replace(repaired) => Message::text(repaired),
                FrameVerdict::Answer(event) => {
                    if answers.send(Message::text(event)).await.is_err() {
                        break;
                    }
                    continue;
                }
            },
            Ok(message) => message,
            Err(error) => {
                close(&mut to, None).await;
                return if is_closed(&error) { BridgeEnd::Closed } else { BridgeEnd::ClientFailed };
            }
        };
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
    mut answers: mpsc::Receiver<Message>,
) -> BridgeEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    U: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let message = tokio::select! {
            message = from.next() => message,
            Some(answer) = answers.recv() => Some(Ok(answer)),
        };
        let message = match message {
            Some(Ok(message)) => message,
            Some(Err(error)) if !is_closed(&error) => {
                let reason = CloseFrame { code: 1011.into(), reason: Utf8Bytes::from_static("the upstream failed") };
                close(&mut to, Some(reason)).await;
                return BridgeEnd::UpstreamFailed;
            }
            Some(Err(_)) | None => {
                close(&mut to, None).await;
                return BridgeEnd::Closed;
            }
        };
        match forward(&mut to, message).await {
            Passed::On => {}
            Passed::Closed => return BridgeEnd::Closed,
            Passed::Failed => return BridgeEnd::ClientFailed,
        }
    }
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
    let is_close = match &message {
        // Each connection answers its own pings.
        Message::Pong(_) => return Passed::On,
        Message::Close(_) => true,
        Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Frame(_) => false,
    };
    match to.send(message).await {
        Ok(()) if is_close => Passed::Closed,
        Ok(()) => Passed::On,
        Err(error) if is_closed(&error) => Passed::Closed,
        Err(_) => Passed::Failed,
    }
}

async fn close<S>(to: &mut SplitSink<WebSocketStream<S>, Message>, reason: Option<CloseFrame>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    // The other side may be gone already.
    let _ = to.send(Message::Close(reason)).await;
}

fn is_closed(error: &tungstenite::Error) -> bool {
    matches!(error, tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed)
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;

    use super::*;

    const LIMITS: BridgeLimits = BridgeLimits { message_bytes_max: 1 << 20 };

    /// Runs a bridge between a client and an upstream that a test plays.
    async fn bridged<F: Future<Output = FrameVerdict>>(
        inspect: impl FnMut(Bytes) -> F,
        play: impl AsyncFnOnce(WebSocketStream<DuplexStream>, WebSocketStream<DuplexStream>),
    ) -> BridgeEnd {
        let (client, client_side) = tokio::io::duplex(1 << 16);
        let (upstream, upstream_side) = tokio::io::duplex(1 << 16);
        let client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
        let upstream = WebSocketStream::from_raw_socket(upstream, Role::Server, None).await;
        let bridge = bridge(client_side, upstream_side, LIMITS, inspect);
        let (end, ()) = futures_util::future::join(bridge, play(client, upstream)).await;
        end
    }

    async fn repaired(body: Bytes) -> FrameVerdict {
        let options = seamline::Options { dialect: Some("openai_responses".to_owned()), ..Default::default() };
        let repaired = seamline::repair(&body, &options).unwrap();
        if !repaired.is_changed() {
            return FrameVerdict::Pass;
        }
        FrameVerdict::Replace(String::from_utf8(repaired.body.to_vec()).unwrap())
    }

    fn create(more: &str) -> String {
        format!(
            r#"{{"type":"response.create", "model":"gpt-5","store":false,"input":[{{"role":"user","content":"go"}},
            {{"type":"function_call","call_id":"c1","name":"x","arguments":"{{}}"}}{more}]}}"#
        )
    }

    #[tokio::test]
    async fn a_damaged_create_is_repaired_and_healthy_messages_are_identical() {
        let healthy = create(r#",{"type":"function_call_output","call_id":"c1","output":"ok"}"#);
        let end = bridged(repaired, async |mut client, mut upstream| {
            let others = [healthy.as_str(), r#"{"type":"response.cancel"}"#, "not json", "{\"type\": \"odd\"}"];
            for text in others {
                client.send(Message::text(text)).await.unwrap();
                assert_eq!(upstream.next().await.unwrap().unwrap(), Message::text(text));
            }
            client.send(Message::binary(vec![0, 159, 1])).await.unwrap();
            assert_eq!(upstream.next().await.unwrap().unwrap(), Message::binary(vec![0, 159, 1]));

            client.send(Message::text(create(r#",{"role":"user","content":"well?"}"#))).await.unwrap();
            let sent = upstream.next().await.unwrap().unwrap().into_text().unwrap();
            assert!(sent.starts_with(r#"{"type":"response.create", "model""#) && sent.contains("function_call_output"));
            assert_eq!(repaired(Bytes::from(sent)).await, FrameVerdict::Pass);

            upstream.send(Message::text(r#"{"type":"response.created"}"#)).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), Message::text(r#"{"type":"response.created"}"#));
            client.close(None).await.unwrap();
            assert!(matches!(upstream.next().await, Some(Ok(Message::Close(_)))));
            while upstream.next().await.is_some() {}
            while client.next().await.is_some() {}
        })
        .await;
        assert_eq!(end, BridgeEnd::Closed);
    }

    #[tokio::test]
    async fn a_refused_create_is_answered_and_not_sent() {
        let refuse = async |_| FrameVerdict::Answer(r#"{"type":"error"}"#.to_owned());
        bridged(refuse, async |mut client, mut upstream| {
            client.send(Message::text(create(""))).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), Message::text(r#"{"type":"error"}"#));
            client.send(Message::text("next")).await.unwrap();
            assert_eq!(upstream.next().await.unwrap().unwrap(), Message::text("next"));
        })
        .await;
    }

    #[tokio::test]
    async fn a_broken_upstream_closes_the_client_with_a_reason() {
        let end = bridged(repaired, async |mut client, upstream| {
            drop(upstream);
            let Some(Ok(Message::Close(Some(reason)))) = client.next().await else { panic!("no close frame") };
            assert_eq!(u16::from(reason.code), 1011);
        })
        .await;
        assert_eq!(end, BridgeEnd::UpstreamFailed);
    }

    #[tokio::test]
    async fn the_close_frame_of_the_upstream_reaches_the_client() {
        let end = bridged(repaired, async |mut client, mut upstream| {
            let reason = CloseFrame { code: 4000.into(), reason: Utf8Bytes::from_static("done") };
            upstream.close(Some(reason.clone())).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), Message::Close(Some(reason)));
        })
        .await;
        assert_eq!(end, BridgeEnd::Closed);
    }

    #[tokio::test]
    async fn a_message_over_the_limit_ends_the_bridge() {
        let end = bridged(repaired, async |mut client, _upstream| {
            let _ = client.send(Message::text("x".repeat(LIMITS.message_bytes_max + 1))).await;
        })
        .await;
        assert_eq!(end, BridgeEnd::ClientFailed);
    }

    #[test]
    fn an_upgrade_is_known_by_its_header() {
        let headers =
            |value: &'static str| std::iter::once((header::UPGRADE, value.parse().unwrap())).collect::<HeaderMap>();
        assert!(is_upgrade(&headers("WebSocket")) && !is_upgrade(&headers("h2c")) && !is_upgrade(&HeaderMap::new()));
    }
}
