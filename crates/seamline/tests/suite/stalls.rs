//! Streams without progress, under a clock that the test sets.
#![expect(clippy::unwrap_used, reason = "a stream that cannot be read fails its test")]

use std::time::Duration;

use seamline::guards::{StallGuard, StallLimits, StallNotice};
use seamline::stream::{Ending, ResponseStream, StreamOptions};

use crate::streams::fixtures;

/// For each dialect, the start of a response and the keep-alive data of its servers.
const STREAMS: [(&str, &[&str], &[&str]); 5] = [
    (
        "anthropic",
        &[
            r#"data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}"#,
            r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me"}}"#,
        ],
        &[
            ": comment",
            "event: ping\ndata: {\"type\":\"ping\"}",
            r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#,
            "event: something_new\ndata: {\"type\":\"something_new\"}",
        ],
    ),
    (
        "openai",
        &[
            r#"data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Let me"}}]}"#,
        ],
        &[
            ": OPENROUTER PROCESSING",
            r#"data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{}}]}"#,
            r#"data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"data: {"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#,
        ],
    ),
    (
        "openai-responses",
        &[
            r#"data: {"type":"response.created","response":{"id":"r1","object":"response","status":"in_progress","output":[]}}"#,
            r#"data: {"type":"response.output_item.added","output_index":0,"item":{"id":"m1","type":"message","role":"assistant","content":[]}}"#,
            r#"data: {"type":"response.output_text.delta","item_id":"m1","output_index":0,"content_index":0,"delta":"Let me"}"#,
        ],
        &[
            "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":9}",
            r#"data: {"type":"response.in_progress","response":{"id":"r1","object":"response","status":"in_progress","output":[]}}"#,
            r#"data: {"type":"response.output_text.delta","item_id":"m1","output_index":0,"content_index":0,"delta":""}"#,
        ],
    ),
    (
        "gemini",
        &[r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Let me"}]}}],"responseId":"r1"}"#],
        &[
            r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]}}],"responseId":"r1"}"#,
            r#"data: {"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9},"responseId":"r1"}"#,
        ],
    ),
    (
        "gemini-interactions",
        &[
            r#"data: {"event_type":"interaction.created","interaction":{"id":"v1_1","status":"in_progress"}}"#,
            r#"data: {"event_type":"step.start","index":0,"step":{"type":"model_output"}}"#,
            r#"data: {"event_type":"step.delta","index":0,"delta":{"type":"text","text":"Let me"}}"#,
        ],
        &[
            r#"data: {"event_type":"interaction.status_update","interaction_id":"v1_1","status":"in_progress"}"#,
            r#"data: {"event_type":"step.delta","index":0,"delta":{"type":"text","text":""}}"#,
        ],
    ),
];

fn of_provider(provider: &str) -> ResponseStream {
    ResponseStream::new(&StreamOptions { provider: Some(provider.to_owned()), ..StreamOptions::default() }).unwrap()
}

fn frame(text: &str) -> Vec<u8> {
    format!("{text}\n\n").into_bytes()
}

#[test]
fn a_stream_of_pings_stalls_in_its_window() {
    let limits = StallLimits::default();
    for (provider, begun, idle) in STREAMS {
        let mut stream = of_provider(provider);
        let mut guard = StallGuard::new(limits, Duration::ZERO);
        let pieces = begun.iter().chain(idle.iter().cycle());
        let mut last_moved = Duration::ZERO;
        let mut ended = None;
        // Some bytes arrive every second, for ever.
        for (piece, second) in pieces.zip(1..2000) {
            let now = Duration::from_secs(second);
            if let Some(StallNotice::Stalled { idle, tool: None }) = guard.poll_notice(now) {
                ended = Some((now, idle));
                stream.stall();
                break;
            }
            if stream.feed(&frame(piece)) {
                last_moved = now;
                guard.handle_progress(now);
            } else {
                guard.handle_life(now);
            }
        }
        assert_eq!(last_moved.as_secs() as usize, begun.len(), "{provider}: the text was the last that moved it");
        let window = limits.kill_after.unwrap();
        assert_eq!(ended, Some((last_moved + window, window)), "{provider}");
        assert!(!stream.feed(&frame(begun[0])), "{provider}: the stream ignores later frames");
        assert_eq!(stream.finish().unwrap().ending, Ending::Stalled, "{provider}");
    }
}

#[test]
fn only_the_end_of_a_frame_brings_progress_and_it_is_never_missed() {
    for (provider, begun, _) in STREAMS {
        let mut stream = of_provider(provider);
        let bytes: Vec<_> = begun.iter().flat_map(|piece| frame(piece)).collect();
        let moved: Vec<_> = bytes.iter().enumerate().filter(|(_, byte)| stream.feed(&[**byte])).collect();
        let last = bytes.len() - 1;
        assert!(
            moved.iter().all(|(at, _)| bytes[*at] == b'\n') && moved.iter().any(|(at, _)| *at == last),
            "{provider}"
        );
    }
}

#[test]
fn every_response_with_content_had_a_piece_with_progress() {
    for stream in fixtures().unwrap() {
        let mut whole = ResponseStream::new(&stream.options).unwrap();
        let moved = stream.bytes.chunks(7).filter(|piece| whole.feed(piece)).count() > 0;
        let Ok(response) = whole.finish() else { continue };
        // Content that is read only at the end of the stream cannot be progress before.
        assert!(moved || response.ending != Ending::Complete, "{}", stream.name);
    }
}

#[test]
fn a_call_reports_whether_its_input_is_free_text() {
    let calls = |name: &str| {
        let streams = fixtures().unwrap();
        let stream = streams.iter().find(|stream| stream.name.ends_with(name)).unwrap();
        let calls = stream.whole().unwrap().calls;
        calls.into_iter().map(|call| call.free).collect::<Vec<_>>()
    };
    assert_eq!(calls("openai_responses/custom_call"), [true]);
    assert_eq!(calls("openai_chat/parallel_calls"), [false, false]);
}
