//! Streams that fail.

use std::io::Read as _;
use std::time::Duration;

use seamline::stream::{Ending, ResponseStream, StreamOptions};
use seamline_proxy::config::StallTime;
use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::Dialect;
use seamline_testkit::provider::{After, End, Script};

use super::bodies::streamed;
use super::client::Answer;
use super::stage::{Stage, path, stream_path, wait_until};

/// The most frames of the streams in these tests.
const FRAMES_MAX: usize = 40;

/// The time within which the provider must have seen a request.
const SOON: Duration = Duration::from_secs(10);

mod at_every_frame {
    seamline_testkit::test_each_dialect!(super::a_stream_that_is_cut_ends_as_a_failed_one);
}

mod with_an_error_at_every_frame {
    seamline_testkit::test_each_dialect!(super::an_event_of_the_provider_about_an_error_passes_unchanged);
}

mod with_a_stall_at_every_frame {
    seamline_testkit::test_each_dialect!(super::a_stalled_stream_is_ended);
}

mod with_a_filter_after_every_piece {
    seamline_testkit::test_each_dialect!(super::a_filtered_stream_passes_unchanged);
}

mod with_delays {
    seamline_testkit::test_each_dialect!(super::a_delay_before_every_frame_changes_nothing);
}

/// The script of a stream of a few frames.
fn script() -> Script {
    Script::default().chunks(4, 8)
}

/// Plays a fault after no frame, after one, and so on, until the stream is over before the fault. Returns the number of
/// frames.
fn at_every_frame(
    stage: &Stage,
    dialect: Dialect,
    fault: impl Fn(usize) -> Script,
    mut look: impl FnMut(usize, &Answer),
) -> usize {
    let mut frames = 0;
    loop {
        assert!(frames < FRAMES_MAX, "the stream has more frames");
        stage.provider.take();
        stage.provider.next(fault(frames));
        let answer = stage.client().post(stream_path(dialect), streamed(dialect).as_bytes());
        let exchange = stage.provider.wait(1, SOON).pop().unwrap();
        wait_until(|| exchange.end().is_some());
        if exchange.end() == Some(End::Sent) && ending(dialect, &answer.body) == Ending::Complete {
            return frames;
        }
        look(frames, &answer);
        frames += 1;
    }
}

fn a_stream_that_is_cut_ends_as_a_failed_one(dialect: Dialect) {
    let stage = Stage::new();
    let mut failed = 0;
    for fault in [Script::cut, Script::reset] {
        let frames = at_every_frame(
            &stage,
            dialect,
            |frames| fault(script(), After::Frames(frames)),
            |frames, answer| {
                if answer.status != 200 {
                    // A reset can destroy the head on its way.
                    assert!(answer.status == 502 || answer.status == 0, "{}", answer.status);
                    return;
                }
                assert!(answer.is_complete, "{frames}: {}", answer.text());
                let is_failed = answer.text().contains("closed the connection");
                // The frames after the end of the message, such as a count of tokens, may be missing.
                let expected = if is_failed { Ending::Failed } else { Ending::Complete };
                assert_eq!(ending(dialect, &answer.body), expected, "{frames}: {}", answer.text());
                failed += usize::from(is_failed);
            },
        );
        assert!(frames >= 4, "{frames}");
    }
    assert!(failed >= 4, "{failed}");
    assert!(stage.reports.outcomes().iter().filter(|outcome| **outcome == IncidentOutcome::Broken).count() >= 4);
}

fn an_event_of_the_provider_about_an_error_passes_unchanged(dialect: Dialect) {
    let stage = Stage::new();
    let mut failed = 0;
    at_every_frame(
        &stage,
        dialect,
        |frames| script().error_event(frames),
        |frames, answer| {
            assert!(answer.is_complete, "{frames}");
            assert!(!answer.text().contains("closed the connection"), "{frames}: {}", answer.text());
            let ending = ending(dialect, &answer.body);
            assert!(matches!(ending, Ending::Failed | Ending::Complete), "{frames}: {ending:?} {}", answer.text());
            failed += usize::from(ending == Ending::Failed);
        },
    );
    assert!(failed >= 3, "{failed}");
    assert_eq!(stage.reports.outcomes(), []);
}

fn a_stalled_stream_is_ended(dialect: Dialect) {
    let stage = Stage::with(|config| {
        config.stall.warn_after = StallTime::After(Duration::from_millis(20));
        config.stall.kill_after = StallTime::After(Duration::from_millis(60));
    });
    let mut failed = 0;
    at_every_frame(
        &stage,
        dialect,
        |frames| script().stall(After::Frames(frames)),
        |frames, answer| {
            assert!(answer.is_complete, "{frames}");
            let ending = ending(dialect, &answer.body);
            assert!(matches!(ending, Ending::Failed | Ending::Complete), "{frames}: {ending:?} {}", answer.text());
            failed += usize::from(ending == Ending::Failed);
        },
    );
    assert!(failed >= 3, "{failed}");
    assert!(stage.reports.outcomes().iter().all(|outcome| *outcome == IncidentOutcome::Stalled));
}

#[test]
fn the_policy_has_the_time_after_which_a_silent_stream_ends() {
    for text in ["stall_timeout_ms = 60", "stall_timeout_ms = 0\n[provider.anthropic]\nstall_timeout_ms = 60"] {
        let stage = Stage::with(|config| config.policy = seamline::Policy::from_toml(text).unwrap());
        stage.provider.next(script().stall(After::Frames(2)));
        let dialect = Dialect::AnthropicMessages;
        let answer = stage.client().post(stream_path(dialect), streamed(dialect).as_bytes());
        assert_eq!(ending(dialect, &answer.body), Ending::Failed, "{}", answer.text());
        assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Stalled]);
    }
}

fn a_filtered_stream_passes_unchanged(dialect: Dialect) {
    let stage = Stage::new();
    // The Interactions API reports a filter by an error.
    let expected = if dialect == Dialect::GeminiInteractions { Ending::Failed } else { Ending::Filtered };
    for pieces in 1..6 {
        stage.provider.next(Script::default().chunks(pieces, 8).filtered());
        let answer = stage.client().post(stream_path(dialect), streamed(dialect).as_bytes());
        assert!(answer.is_complete && !answer.text().contains("closed the connection"), "{}", answer.text());
        assert_eq!(ending(dialect, &answer.body), expected, "{pieces}: {}", answer.text());
    }
    assert_eq!(stage.reports.outcomes(), []);
}

fn a_delay_before_every_frame_changes_nothing(dialect: Dialect) {
    let stage = Stage::with(|config| config.stall.warn_after = StallTime::After(Duration::from_millis(2)));
    stage.provider.next(script().frame_delay(Duration::from_millis(5)));
    let answer = stage.client().post(stream_path(dialect), streamed(dialect).as_bytes());
    assert!(answer.is_complete);
    assert_eq!(ending(dialect, &answer.body), Ending::Complete, "{}", answer.text());
    assert_eq!(stage.reports.outcomes(), []);
}

fn ending(dialect: Dialect, body: &[u8]) -> Ending {
    let options = StreamOptions { dialect: Some(dialect.name().to_owned()), ..StreamOptions::default() };
    let mut stream = ResponseStream::new(&options).unwrap();
    stream.feed(body);
    stream.finish().unwrap().ending
}

#[test]
fn an_array_that_is_cut_ends_with_an_error() {
    let stage = Stage::new();
    let path = "/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent";
    for frames in 1..4 {
        stage.provider.next(Script::default().chunks(6, 8).cut(After::Frames(frames)));
        let answer = stage.client().post(path, streamed(Dialect::GeminiGenerate).as_bytes());
        let values: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(values.as_array().unwrap().last().unwrap()["error"]["status"], "UNAVAILABLE");
    }
}

#[test]
fn a_cut_inside_an_event_breaks_the_connection() {
    let stage = Stage::new();
    let dialect = Dialect::OpenAiChat;
    stage.provider.next(Script::default().chunks(4, 8).cut(After::Bytes(40)));
    let answer = stage.client().post(path(dialect), streamed(dialect).as_bytes());
    assert_eq!((answer.body.len(), answer.is_complete), (40, false));
    stage.reports.wait_for(IncidentOutcome::Broken);
}

#[test]
fn signatures_that_a_client_loses_are_put_back() {
    let stage = Stage::new();
    let tools = r#""tools":[{"functionDeclarations":[{"name":"shell","parameters":{"type":"OBJECT","properties":{"command":{"type":"STRING"}}}}]}]"#;
    let first = format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}}],{tools}}}"#);
    for (path, is_gzip) in [
        (stream_path(Dialect::GeminiGenerate), false),
        (path(Dialect::GeminiGenerate), false),
        (stream_path(Dialect::GeminiGenerate), true),
        (path(Dialect::GeminiGenerate), true),
    ] {
        let path = path.replace("gemini-2.5-pro", "gemini-3-pro-preview");
        stage.provider.next(if is_gzip { Script::default().gzip() } else { Script::default() });
        let mut answer = stage.client().post(&path, first.as_bytes()).body;
        if is_gzip {
            let mut decoded = Vec::new();
            flate2::read::MultiGzDecoder::new(&answer[..]).read_to_end(&mut decoded).unwrap();
            answer = decoded;
        }
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains("c2lnbmVkLXByb2Jl"), "{answer}");
        let id = answer.split(r#""id":""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
        stage.provider.take();
        let second = format!(
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{{"functionCall":{{"id":"{id}","name":"shell","args":{{ "command": "echo probe" }}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"id":"{id}","name":"shell","response":{{"output":"ok"}}}}}}]}}],{tools}}}"#
        );
        stage.client().post(&path, second.as_bytes());
        let sent = String::from_utf8(stage.provider.take().pop().unwrap().raw_body).unwrap();
        assert!(sent.contains(r#""thoughtSignature":"c2lnbmVkLXByb2Jl""#), "{sent}");
    }
}
