use seamline::classify::Class;
use seamline::stream::{Ending, ResponseStream, StreamOptions};

use super::*;

/// The tail after some pieces of one byte each.
fn tail(framing: Framing, stream: &[u8]) -> Tail {
    let mut tail = Tail::new(framing);
    for byte in stream {
        tail.handle_piece(&Bytes::copy_from_slice(&[*byte]));
    }
    tail
}

fn failed(framing: Framing, dialect: &str, stream: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Tail::new(framing);
    whole.handle_piece(&Bytes::copy_from_slice(stream));
    let added = whole.failed(dialect, StreamFailure::Broken);
    let in_bytes = tail(framing, stream).failed(dialect, StreamFailure::Broken);
    assert_eq!(in_bytes.is_some(), added.is_some(), "pieces make no difference");
    Some([stream, &added?].concat())
}

/// Reads a failed stream as a client does.
fn read(dialect: &str, stream: &[u8]) -> (Ending, Option<Class>) {
    let options = StreamOptions { dialect: Some(dialect.to_owned()), ..StreamOptions::default() };
    let mut reader = ResponseStream::new(&options).unwrap();
    reader.feed(stream);
    let response = reader.finish().unwrap();
    (response.ending, response.error.map(|error| error.verdict.class))
}

#[test]
fn every_dialect_reads_the_added_event_as_a_failure_that_may_be_repeated() {
    let failed_and_transient = (Ending::Failed, Some(Class::Transient));
    for (dialect, start) in [
        (
            "anthropic_messages",
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n",
        ),
        ("openai_chat", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n"),
        (
            "openai_responses",
            "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":4,\"response\":{\"id\":\"r\",\"output\":[]}}\n\n",
        ),
        (
            "gemini_generate",
            "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hi\"}]}}]}\r\n\r\n",
        ),
        (
            "gemini_interactions",
            "event: interaction.created\ndata: {\"interaction\":{\"id\":\"v1_1\",\"status\":\"in_progress\"},\"event_type\":\"interaction.created\"}\n\n",
        ),
    ] {
        for end in ["\n", "\r\n", "\r"] {
            let start = start.replace("\r\n", "\n").replace('\n', end);
            let stream = failed(Framing::Sse, dialect, start.as_bytes()).unwrap();
            assert_eq!(read(dialect, &stream), failed_and_transient, "{dialect}: {}", String::from_utf8_lossy(&stream));
            let blank = failed(Framing::Sse, dialect, &start.as_bytes()[..start.len() - end.len()]).unwrap();
            assert_eq!(read(dialect, &blank), failed_and_transient, "{dialect}");
        }
        let inside = &start.as_bytes()[..start.len() - 6];
        assert_eq!(failed(Framing::Sse, dialect, inside), None, "{dialect}");
    }
    let numbered = Tail { last: Bytes::from_static(b"{\"sequence_number\":41}"), ..Tail::new(Framing::Sse) };
    let event = numbered.failed("openai_responses", StreamFailure::Stalled(Stalled::Silent)).unwrap();
    assert!(String::from_utf8_lossy(&event).contains("\"sequence_number\":42"));
}

#[test]
fn an_array_is_closed_after_an_element_and_not_within_one() {
    let element = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a ] } \" ["}]}}]}"#;
    for start in ["[", "[ ", &format!("[{element}"), &format!("[{element}\n,"), &format!("[{element},{element}")] {
        let stream = failed(Framing::JsonArray, "gemini_generate", start.as_bytes()).unwrap();
        let values: serde_json::Value = serde_json::from_slice(&stream).unwrap();
        assert_eq!(values.as_array().unwrap().last().unwrap()["error"]["status"], "UNAVAILABLE");
        assert_eq!(read("gemini_generate", &stream).0, Ending::Failed);
    }
    for inside in ["", "[{", &format!("[{}", &element[..40]), &format!("[{element}]")] {
        assert_eq!(failed(Framing::JsonArray, "gemini_generate", inside.as_bytes()), None, "{inside}");
    }
}

#[test]
fn an_event_stream_of_aws_gets_an_exception_between_messages() {
    let message = exception(StreamFailure::Broken);
    for whole in 0..3 {
        let stream = failed(Framing::AwsEventStream, "bedrock_converse", &message.repeat(whole)).unwrap();
        assert_eq!(stream, message.repeat(whole + 1));
    }
    assert_eq!(read("bedrock_converse", &message), (Ending::Failed, Some(Class::Transient)));
    for cut in [1, 3, 4, 5, 40, message.len() - 1] {
        assert_eq!(failed(Framing::AwsEventStream, "bedrock_converse", &message[..cut]), None, "{cut}");
    }
    assert_eq!(failed(Framing::AwsEventStream, "bedrock_converse", &[0, 0, 0, 1, 9, 9]), None);
}
