//! The cost of assembling a streamed response compared with parsing its events.
//!
//! The peer does the least that a client does: `eventsource-stream` for the frames, and a `serde_json::Value` of each
//! event, which it drops. Both get the same bytes in the same pieces in the same run, and the best of several
//! interleaved rounds counts. No speed passes or fails; the memory of a long response must stay within a few times its
//! message. `cargo xtask bench streams` prints it.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::expect_used, reason = "a stream that cannot be read has nothing to measure")]
#![expect(clippy::cast_precision_loss, reason = "megabytes are printed with two digits")]

use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

use eventsource_stream::Eventsource;
use futures_util::{FutureExt, StreamExt, stream};
use seamline::stream::{Ending, Framing, Response, ResponseStream, StreamOptions};
use serde_json::Value;

/// The number of bytes per piece, as from a socket.
const PIECE_BYTES: usize = 4096;

/// The number of deltas of a stream.
const DELTAS: usize = 20_000;

/// The number of rounds; the best counts.
const ROUNDS: usize = 9;

fn main() {
    println!(
        "best of interleaved rounds, in pieces of {PIECE_BYTES} bytes; the peer frames and parses, and assembles nothing\n"
    );
    println!(
        "{:<20} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>8}",
        "stream", "MB", "events", "peer MB/s", "MB/s", "peer ev/s", "ev/s", "faster"
    );
    for (dialect, write) in DIALECTS {
        measure(dialect, &sse(&write(DELTAS)));
    }
    println!();
    memory();
}

/// Writes a response of so many deltas, as the data of events.
type Write = fn(usize) -> Vec<String>;

/// Each dialect, and its writer.
const DIALECTS: [(&str, Write); 5] = [
    ("anthropic_messages", anthropic),
    ("openai_chat", chat),
    ("openai_responses", responses),
    ("bedrock_converse", bedrock),
    ("gemini_generate", gemini),
];

fn measure(dialect: &str, stream: &[u8]) {
    let events = peer(stream);
    let response = assembled(dialect, stream);
    assert_eq!(response.ending, Ending::Complete, "{dialect}: {:?}", response.findings);
    assert!(response.calls.iter().all(|call| call.executable) && !response.calls.is_empty(), "{dialect}");
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let figures = [time(|| peer(stream)), time(|| assembled(dialect, stream).calls.len())];
        for (best, figure) in best.iter_mut().zip(figures) {
            *best = (*best).min(figure);
        }
    }
    let [theirs, ours] = best.map(|figure| figure.as_secs_f64());
    let megabytes = stream.len() as f64 / 1e6;
    println!(
        "{dialect:<20} {megabytes:>8.2} {events:>8} {:>10.0} {:>10.0} {:>10.0} {:>10.0} {:>8.2}",
        megabytes / theirs,
        megabytes / ours,
        events as f64 / theirs,
        events as f64 / ours,
        theirs / ours
    );
}

/// Frames a stream and parses each event; gives the number of events.
fn peer(stream: &[u8]) -> usize {
    let pieces = stream::iter(stream.chunks(PIECE_BYTES).map(Ok::<_, Infallible>));
    let parsed = pieces.eventsource().map(|event| {
        let event = event.expect("the streams are well formed");
        black_box(serde_json::from_str::<Value>(&event.data).is_ok() || event.data == "[DONE]")
    });
    // All bytes are there, so it never waits.
    parsed.count().now_or_never().expect("all pieces are there")
}

fn assembled(dialect: &str, stream: &[u8]) -> Response {
    let options =
        StreamOptions { dialect: Some(dialect.to_owned()), framing: Some(Framing::Sse), ..StreamOptions::default() };
    let mut response = ResponseStream::new(&options).expect("the dialect is known");
    for piece in stream.chunks(PIECE_BYTES) {
        response.feed(piece);
    }
    response.finish().expect("the stream is in its dialect")
}

fn time(work: impl Fn() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

/// The number of bytes of text and of input of the long responses.
const LONG_BYTES: usize = 16 * 1024 * 1024;

/// The memory that a message may take while it is assembled and written, in multiples of its size: its text or input as
/// streamed, as blocks and calls show it, and in the message.
const HELD_MAX: f64 = 5.0;

/// Measures the memory of the process while long streams pass. The streams are made piece by piece, so that only the
/// memory of the assembler counts.
fn memory() {
    if peak_bytes().is_none() {
        println!("the peak of memory is only known on Linux");
        return;
    }
    let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n".repeat(1024);
    let (held, _) = held(|response| {
        response.feed(&sse(&anthropic(10)));
        for _ in 0..LONG_BYTES * 16 / ping.len() {
            response.feed(ping.as_bytes());
        }
    });
    println!("memory: {:.0} MB without content raise the peak by {:.1} MB", LONG_BYTES as f64 * 16.0 / 1e6, held / 1e6);
    long("text", r#"{"type":"text","text":""}"#, &long_text());
    long("input", r#"{"type":"tool_use","id":"toolu_1","name":"write_file","input":{}}"#, &long_input());
}

/// Prints the memory of a long block.
fn long(what: &str, block: &str, deltas: &[String; 3]) {
    let [first, middle, last] = deltas.each_ref().map(|delta| {
        let event = format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#);
        sse(&[event])
    });
    let start = sse(&[
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}"#
            .to_owned(),
        format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#),
    ]);
    let end = sse(&[
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#.to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ]);
    let (held, message) = held(|response| {
        response.feed(&start);
        response.feed(&first);
        for _ in 0..LONG_BYTES / LONG_PIECE.len() {
            response.feed(&middle);
        }
        response.feed(&last);
        response.feed(&end);
    });
    let times = held / message as f64;
    let verdict = if times <= HELD_MAX { "within" } else { "MORE THAN" };
    println!(
        "memory: {what} of {:.1} MB raises the peak by {:.1} MB, {times:.1} times the message: {verdict} {HELD_MAX} times",
        message as f64 / 1e6,
        held / 1e6
    );
    assert!(times <= HELD_MAX, "{what}: {times:.1} times the message");
}

/// How far a stream raises the peak of memory, and how long its message is.
fn held(feed: impl FnOnce(&mut ResponseStream)) -> (f64, usize) {
    reset_peak();
    let before = peak_bytes().unwrap_or_default();
    let mut response = ResponseStream::new(&StreamOptions::default()).expect("nothing is asked for");
    feed(&mut response);
    let response = black_box(response.finish().expect("the stream is in its dialect"));
    let after = peak_bytes().unwrap_or(before);
    (after.saturating_sub(before) as f64, response.message.len())
}

/// A piece of a long response, which needs no JSON escapes.
const LONG_PIECE: &str = "I will look at the caller next, since the value is only used there and nowhere else. ";

fn long_text() -> [String; 3] {
    let delta = |text: &str| format!(r#"{{"type":"text_delta","text":"{text}"}}"#);
    [delta("So: "), delta(LONG_PIECE), delta("Done.")]
}

fn long_input() -> [String; 3] {
    let delta = |json: &str| format!(r#"{{"type":"input_json_delta","partial_json":"{json}"}}"#);
    [delta(r#"{\"text\":\""#), delta(LONG_PIECE), delta(r#"\"}"#)]
}

/// Resets the peak memory to the current one, where the system allows it.
fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The peak memory of the process.
fn peak_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}

/// Events as a server sends them.
fn sse(events: &[String]) -> Vec<u8> {
    events.iter().flat_map(|data| format!("data: {data}\n\n").into_bytes()).collect()
}

/// Words of a model, a few at a time.
fn words(at: usize) -> &'static str {
    const WORDS: [&str; 6] = [
        " I will look at",
        " the caller next,",
        " since the value\\n",
        " \\\"entry\\\" is only",
        " used there and",
        " nowhere else.",
    ];
    WORDS[at % WORDS.len()]
}

/// The input of a call, in as many pieces: the first and the last make it an object.
fn fragment(at: usize, count: usize) -> &'static str {
    match at {
        0 => "{\\\"text\\\":\\\"",
        at if at + 1 == count => "\\\"}",
        at if at % 2 == 0 => "let value = map",
        _ => ".get(&key);\\\\n",
    }
}

/// The numbers of deltas of the text and of the call.
fn halves(deltas: usize) -> (usize, usize) {
    (deltas / 2, (deltas - deltas / 2).max(2))
}

fn anthropic(deltas: usize) -> Vec<String> {
    let (texts, fragments) = halves(deltas);
    let mut events = vec![
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"output_tokens":1}}}"#.to_owned(),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.to_owned(),
    ];
    events.extend((0..texts).map(|at| {
        format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{}"}}}}"#, words(at))
    }));
    events.push(r#"{"type":"content_block_stop","index":0}"#.to_owned());
    events.push(r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","name":"write_file","input":{}}}"#.to_owned());
    events.extend((0..fragments).map(|at| {
        format!(
            r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":"{}"}}}}"#,
            fragment(at, fragments)
        )
    }));
    events.push(r#"{"type":"content_block_stop","index":1}"#.to_owned());
    events.push(r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}"#.to_owned());
    events.push(r#"{"type":"message_stop"}"#.to_owned());
    events
}

fn chat(deltas: usize) -> Vec<String> {
    let (texts, fragments) = halves(deltas);
    let chunk = |delta: &str, finish: &str| {
        format!(
            r#"{{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44709d6fcb","choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}]}}"#
        )
    };
    let mut events = vec![chunk(r#"{"role":"assistant","content":""}"#, "null")];
    events.extend((0..texts).map(|at| chunk(&format!(r#"{{"content":"{}"}}"#, words(at)), "null")));
    events.push(chunk(r#"{"tool_calls":[{"index":0,"id":"call_abc123","type":"function","function":{"name":"write_file","arguments":""}}]}"#, "null"));
    events.extend((0..fragments).map(|at| {
        let call =
            format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{}"}}}}]}}"#, fragment(at, fragments));
        chunk(&call, "null")
    }));
    events.push(chunk("{}", "\"tool_calls\""));
    events.push("[DONE]".to_owned());
    events
}

fn responses(deltas: usize) -> Vec<String> {
    let (texts, fragments) = halves(deltas);
    let mut said = String::new();
    let mut input = String::new();
    let mut events = vec![
        r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5","output":[]}}"#.to_owned(),
        r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}"#.to_owned(),
        r#"{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}"#.to_owned(),
    ];
    for at in 0..texts {
        said.push_str(words(at));
        events.push(format!(
            r#"{{"type":"response.output_text.delta","sequence_number":{at},"item_id":"msg_1","output_index":0,"content_index":0,"delta":"{}"}}"#,
            words(at)
        ));
    }
    events.push(format!(r#"{{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"{said}","annotations":[]}}]}}}}"#));
    events.push(r#"{"type":"response.output_item.added","sequence_number":4,"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"call_1","name":"write_file","arguments":""}}"#.to_owned());
    for at in 0..fragments {
        input.push_str(fragment(at, fragments));
        events.push(format!(
            r#"{{"type":"response.function_call_arguments.delta","sequence_number":{at},"item_id":"fc_1","output_index":1,"delta":"{}"}}"#,
            fragment(at, fragments)
        ));
    }
    events.push(format!(r#"{{"type":"response.output_item.done","sequence_number":5,"output_index":1,"item":{{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"write_file","arguments":"{input}"}}}}"#));
    events.push(r#"{"type":"response.completed","sequence_number":6,"response":{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","usage":{"input_tokens":9,"output_tokens":3,"total_tokens":12}}}"#.to_owned());
    events
}

fn bedrock(deltas: usize) -> Vec<String> {
    let (texts, fragments) = halves(deltas);
    let mut events = vec![r#"{"messageStart":{"role":"assistant"}}"#.to_owned()];
    events.extend(
        (0..texts).map(|at| {
            format!(r#"{{"contentBlockDelta":{{"contentBlockIndex":0,"delta":{{"text":"{}"}}}}}}"#, words(at))
        }),
    );
    events.push(r#"{"contentBlockStop":{"contentBlockIndex":0}}"#.to_owned());
    events.push(r#"{"contentBlockStart":{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"write_file"}}}}"#.to_owned());
    events.extend((0..fragments).map(|at| {
        format!(
            r#"{{"contentBlockDelta":{{"contentBlockIndex":1,"delta":{{"toolUse":{{"input":"{}"}}}}}}}}"#,
            fragment(at, fragments)
        )
    }));
    events.push(r#"{"contentBlockStop":{"contentBlockIndex":1}}"#.to_owned());
    events.push(r#"{"messageStop":{"stopReason":"tool_use"}}"#.to_owned());
    events.push(
        r#"{"metadata":{"usage":{"inputTokens":9,"outputTokens":3,"totalTokens":12},"metrics":{"latencyMs":12}}}"#
            .to_owned(),
    );
    events
}

fn gemini(deltas: usize) -> Vec<String> {
    let chunk = |part: &str, finish: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},{finish}"index":0}}],"usageMetadata":{{"promptTokenCount":9,"totalTokenCount":12}},"modelVersion":"gemini-2.5-flash","responseId":"r_1"}}"#
        )
    };
    let mut events: Vec<String> = (0..deltas).map(|at| chunk(&format!(r#"{{"text":"{}"}}"#, words(at)), "")).collect();
    let call = r#"{"functionCall":{"name":"write_file","args":{"text":"let value = map.get(&key);"}}}"#;
    events.push(chunk(call, r#""finishReason":"STOP","#));
    events
}
