//! Streams that fail.

use std::io::Read as _;

use seamline::stream::{Ending, ResponseStream, StreamOptions};
use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::Dialect;
use seamline_testkit::provider::{After, Script};

use super::bodies::streamed;
use super::stage::{Stage, path, stream_path};

/// The most frames of the streams in these tests.
const FRAMES_MAX: usize = 12;

seamline_testkit::test_each_dialect!(a_stream_that_is_cut_ends_as_a_failed_one);

fn a_stream_that_is_cut_ends_as_a_failed_one(dialect: Dialect) {
    let stage = Stage::new();
    let body = streamed(dialect);
    let script = || Script::default().chunks(4, 8);
    stage.provider.next(script());
    let whole = stage.client().post(stream_path(dialect), body.as_bytes());
    assert_eq!(ending(dialect, &whole.body), Ending::Complete);
    let mut failed = 0;
    for fault in [Script::cut, Script::reset] {
        for frames in 0..FRAMES_MAX {
            stage.provider.next(fault(script(), After::Frames(frames)));
            let answer = stage.client().post(stream_path(dialect), body.as_bytes());
            if answer.status != 200 {
                // A reset can destroy the head on its way.
                assert!(answer.status == 502 || answer.status == 0, "{}", answer.status);
                continue;
            }
            assert!(answer.is_complete, "{frames}: {}", answer.text());
            let is_failed = answer.text().contains("closed the connection");
            // What comes after the end of the message, such as a count of tokens, may be missing.
            let expected = if is_failed { Ending::Failed } else { Ending::Complete };
            assert_eq!(ending(dialect, &answer.body), expected, "{frames}: {}", answer.text());
            failed += usize::from(is_failed);
        }
    }
    assert!(failed >= 4, "{failed}");
    assert!(stage.reports.outcomes().iter().filter(|outcome| **outcome == IncidentOutcome::Broken).count() >= 4);
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
fn events_of_the_provider_about_errors_pass_unchanged() {
    let stage = Stage::new();
    for dialect in Dialect::ALL {
        stage.provider.next(Script::default().chunks(4, 8).error_event(2));
        let answer = stage.client().post(stream_path(dialect), streamed(dialect).as_bytes());
        assert!(answer.is_complete, "{dialect:?}");
        assert!(!answer.text().contains("closed the connection"), "{}", answer.text());
    }
}

#[test]
fn a_stalled_stream_is_ended() {
    let stage = Stage::with(|config| {
        config.stall.warn_after = Some(std::time::Duration::from_millis(20));
        config.stall.kill_after = Some(std::time::Duration::from_millis(60));
    });
    for dialect in Dialect::ALL {
        stage.provider.next(Script::default().chunks(4, 8).stall(After::Frames(2)));
        let answer = stage.client().post(stream_path(dialect), streamed(dialect).as_bytes());
        assert!(answer.is_complete, "{dialect:?}");
        assert_eq!(ending(dialect, &answer.body), Ending::Failed, "{dialect:?}: {}", answer.text());
    }
    assert_eq!(stage.reports.outcomes(), vec![IncidentOutcome::Stalled; Dialect::ALL.len()]);
    super::stage::wait_until(|| stage.provider.open_connections() == 0);
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
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{{"functionCall":{{"id":"{id}","name":"shell","args":{{}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"id":"{id}","name":"shell","response":{{"output":"ok"}}}}}}]}}],{tools}}}"#
        );
        stage.client().post(&path, second.as_bytes());
        let sent = String::from_utf8(stage.provider.take().pop().unwrap().raw_body).unwrap();
        assert!(sent.contains(r#""thoughtSignature":"c2lnbmVkLXByb2Jl""#), "{sent}");
    }
}
