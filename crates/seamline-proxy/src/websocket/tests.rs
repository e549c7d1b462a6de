use tokio::io::DuplexStream;

use super::*;

const LIMITS: BridgeLimits = BridgeLimits { message_bytes_max: 1 << 20, stall: StallTimes::NONE };

/// Runs a bridge between a client and an upstream that a test plays.
async fn bridged<F: Future<Output = FrameVerdict> + Send>(
    inspect: impl Fn(Bytes) -> F + Sync,
    play: impl AsyncFnOnce(WebSocketStream<DuplexStream>, WebSocketStream<DuplexStream>),
) -> BridgeEnd {
    judged(LIMITS, &inspect, play).await
}

async fn judged(
    limits: BridgeLimits,
    judge: &impl Judge,
    play: impl AsyncFnOnce(WebSocketStream<DuplexStream>, WebSocketStream<DuplexStream>),
) -> BridgeEnd {
    let (client, client_side) = tokio::io::duplex(1 << 16);
    let (upstream, upstream_side) = tokio::io::duplex(1 << 16);
    let client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
    let upstream = WebSocketStream::from_raw_socket(upstream, Role::Server, None).await;
    let bridge = bridge(client_side, upstream_side, limits, judge);
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
    let refuse = async |_| FrameVerdict::Respond(r#"{"type":"error"}"#.to_owned());
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
async fn a_response_that_the_upstream_breaks_off_ends_with_an_error_event() {
    for event in [None, Some(r#"{"type":"response.created"}"#)] {
        let end = judged(LIMITS, &Again::default(), async |mut client, mut upstream| {
            client.send(Message::text(create(""))).await.unwrap();
            upstream.next().await.unwrap().unwrap();
            if let Some(event) = event {
                upstream.send(Message::text(event)).await.unwrap();
                assert_eq!(client.next().await.unwrap().unwrap(), Message::text(event));
            }
            drop(upstream);
            assert_eq!(client.next().await.unwrap().unwrap(), Message::text(FAILED));
            let Some(Ok(Message::Close(Some(reason)))) = client.next().await else { panic!("no close frame") };
            assert_eq!(u16::from(reason.code), 1011);
        })
        .await;
        assert_eq!(end, BridgeEnd::UpstreamFailed);
    }
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

/// Passes everything, and sends a rejected message once more with a mark.
#[derive(Default)]
struct Again(Mutex<Vec<bool>>);

impl Judge for Again {
    async fn judge(&self, _: Bytes) -> FrameVerdict {
        FrameVerdict::Pass
    }

    async fn retry(&self, sent: Bytes, _: Bytes) -> Option<String> {
        Some(format!("{} again", String::from_utf8(sent.to_vec()).unwrap()))
    }

    fn handle_retried(&self, is_accepted: bool) {
        self.0.lock().unwrap().push(is_accepted);
    }
}

#[tokio::test]
async fn a_rejected_create_is_sent_once_more_and_only_then() {
    const ERROR: &str = r#"{"type":"error","status":400,"error":{}}"#;
    let (judge, asked) = (Again::default(), create(""));
    judged(LIMITS, &judge, async |mut client, mut upstream| {
        for second in [r#"{"type":"response.created"}"#, r#"{"type":"error","status":400,"second":1}"#] {
            client.send(Message::text(&*asked)).await.unwrap();
            assert_eq!(upstream.next().await.unwrap().unwrap(), Message::text(&*asked));
            upstream.send(Message::text(ERROR)).await.unwrap();
            assert_eq!(upstream.next().await.unwrap().unwrap(), Message::text(format!("{asked} again")));
            upstream.send(Message::text(second)).await.unwrap();
            let is_accepted = second.contains("created");
            let expected = if is_accepted { second } else { ERROR };
            assert_eq!(client.next().await.unwrap().unwrap(), Message::text(expected));
            if is_accepted {
                // The client got a part of the response.
                upstream.send(Message::text(ERROR)).await.unwrap();
                assert_eq!(client.next().await.unwrap().unwrap(), Message::text(ERROR));
            }
        }
    })
    .await;
    assert_eq!(*judge.0.lock().unwrap(), [true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_response_without_progress_is_ended_and_a_quiet_connection_is_not() {
    let stall = StallTimes {
        warn_after: Some(Duration::from_secs(5)),
        kill_after: Some(Duration::from_mins(1)),
        alive_kill_after: Some(Duration::from_mins(3)),
    };
    let limits = BridgeLimits { stall, ..LIMITS };
    let end = judged(limits, &Again::default(), async |mut client, mut upstream| {
        tokio::time::sleep(Duration::from_mins(10)).await;
        for event in [r#"{"type":"response.created"}"#, r#"{"type":"response.completed"}"#] {
            client.send(Message::text(create(""))).await.unwrap();
            upstream.next().await.unwrap().unwrap();
            tokio::time::sleep(Duration::from_secs(50)).await;
            upstream.send(Message::text(event)).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), Message::text(event));
            tokio::time::sleep(Duration::from_secs(50)).await;
        }
        upstream.send(Message::text(r#"{"type":"response.completed"}"#)).await.unwrap();
        client.next().await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_mins(10)).await;
        client.send(Message::text(create(""))).await.unwrap();
        let begun = tokio::time::Instant::now();
        assert_eq!(client.next().await.unwrap().unwrap(), Message::text(SILENT));
        assert_eq!(begun.elapsed().as_secs(), 60);
        let Some(Ok(Message::Close(Some(reason)))) = client.next().await else { panic!("no close frame") };
        assert_eq!(u16::from(reason.code), 1011);
    })
    .await;
    assert_eq!(end, BridgeEnd::Stalled(Stalled::Silent));
}

#[tokio::test(start_paused = true)]
async fn signs_of_life_have_a_limit_of_their_own() {
    let minutes = |count| Some(Duration::from_mins(count));
    let stall = StallTimes { warn_after: None, kill_after: minutes(1), alive_kill_after: minutes(3) };
    let end = judged(BridgeLimits { stall, ..LIMITS }, &Again::default(), async |mut client, mut upstream| {
        client.send(Message::text(create(""))).await.unwrap();
        upstream.next().await.unwrap().unwrap();
        let begun = tokio::time::Instant::now();
        let last = loop {
            tokio::time::sleep(Duration::from_secs(50)).await;
            if upstream.send(Message::text(r#"{"type":"keepalive"}"#)).await.is_err() {
                break client.next().await.unwrap().unwrap();
            }
            match client.next().await.unwrap().unwrap() {
                event if event.to_text().unwrap().contains("keepalive") => {}
                event => break event,
            }
        };
        assert_eq!((last, begun.elapsed().as_secs()), (Message::text(ALIVE), 200));
    })
    .await;
    assert_eq!(end, BridgeEnd::Stalled(Stalled::Alive));
}

/// The last message until the connection ends.
async fn rest(side: &mut WebSocketStream<DuplexStream>) -> Option<Message> {
    let mut last = None;
    while let Some(Ok(message)) = side.next().await {
        last = Some(message);
    }
    last
}

#[tokio::test(start_paused = true)]
async fn both_sides_get_the_answer_to_their_close_frame() {
    let bye = || CloseFrame { code: 1000.into(), reason: Utf8Bytes::from_static("bye") };
    let closed = || Some(Message::Close(Some(bye())));
    for is_first_client in [true, false] {
        let end = bridged(repaired, async |mut client, mut upstream| {
            let begun = tokio::time::Instant::now();
            let (first, second) =
                if is_first_client { (&mut client, &mut upstream) } else { (&mut upstream, &mut client) };
            first.close(Some(bye())).await.unwrap();
            let (first, second) = futures_util::future::join(rest(first), rest(second)).await;
            assert_eq!((first, second, begun.elapsed()), (closed(), closed(), Duration::ZERO), "{is_first_client}");
        })
        .await;
        assert_eq!(end, BridgeEnd::Closed);
    }
}

/// Passes everything, and stops.
struct Stopping;

impl Judge for Stopping {
    async fn judge(&self, _: Bytes) -> FrameVerdict {
        FrameVerdict::Pass
    }

    async fn stopping(&self) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_an_idle_bridge_at_once_and_a_busy_one_after_its_response() {
    for is_busy in [false, true] {
        let end = judged(LIMITS, &Stopping, async |mut client, mut upstream| {
            let begun = tokio::time::Instant::now();
            if is_busy {
                client.send(Message::text(create(""))).await.unwrap();
                upstream.next().await.unwrap().unwrap();
                tokio::time::sleep(Duration::from_secs(9)).await;
                let event = Message::text(r#"{"type":"response.completed"}"#);
                upstream.send(event.clone()).await.unwrap();
                assert_eq!(client.next().await.unwrap().unwrap(), event);
            }
            let Some(Ok(Message::Close(Some(reason)))) = client.next().await else { panic!("no close frame") };
            assert_eq!((u16::from(reason.code), begun.elapsed().as_secs()), (1001, if is_busy { 9 } else { 1 }));
            assert!(client.next().await.is_none());
            assert!(matches!(upstream.next().await, Some(Ok(Message::Close(_)))));
        })
        .await;
        assert_eq!(end, BridgeEnd::Closed);
    }
}

#[test]
fn an_upgrade_is_known_by_its_header() {
    let headers =
        |value: &'static str| std::iter::once((header::UPGRADE, value.parse().unwrap())).collect::<HeaderMap>();
    assert!(is_upgrade(&headers("WebSocket")) && !is_upgrade(&headers("h2c")) && !is_upgrade(&HeaderMap::new()));
}
