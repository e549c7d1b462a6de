//! Options that name the dialect or provider of a stream, and streams that contradict them.

use seamline::Error;
use seamline::classify::Class;
use seamline::stream::{Ending, Response, ResponseStream, StreamOptions};

const RESPONSES: &str = "event: response.created\n\
    data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"output\":[],\"status\":\"in_progress\"}}\n\n\
    event: response.completed\n\
    data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"output\":[],\"status\":\"completed\"}}\n\n";

const CHAT: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n\
    data: [DONE]\n\n";

/// `{"type":"message_start",…}` as Bedrock wraps it.
const WRAPPED: &str = "{\"bytes\":\"eyJ0eXBlIjoibWVzc2FnZV9zdGFydCIsIm1lc3NhZ2UiOnsiaWQiOiJtc2dfMSIsInJvbGUiOiJhc3Npc3RhbnQiLCJjb250ZW50IjpbXX19\"}\n";

const ERROR: &str =
    "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";

/// The response of a stream, in any pieces.
fn read(stream: &str, options: &StreamOptions) -> Result<Response, Error> {
    let in_pieces = |length| {
        let mut response = ResponseStream::new(options)?;
        for piece in stream.as_bytes().chunks(length) {
            response.feed(piece);
        }
        response.finish()
    };
    let whole = in_pieces(stream.len().max(1));
    for length in [1, 2, 7, 64] {
        assert_eq!(in_pieces(length), whole, "in pieces of {length}");
    }
    whole
}

fn served_by(provider: &str) -> StreamOptions {
    StreamOptions { provider: Some(provider.to_owned()), ..StreamOptions::default() }
}

fn named(dialect: &str) -> StreamOptions {
    StreamOptions { dialect: Some(dialect.to_owned()), ..StreamOptions::default() }
}

#[test]
fn a_certain_dialect_counts_more_than_the_dialect_of_the_provider() {
    for (provider, stream, dialect) in [
        ("openai", RESPONSES, "openai_responses"),
        ("openai", CHAT, "openai_chat"),
        ("bedrock", WRAPPED, "anthropic_messages"),
        ("anthropic", CHAT, "openai_chat"),
        // A frame that several dialects write alike is read in the provider's dialect.
        ("openai", ERROR, "openai_chat"),
        ("gemini", "data: {\"error\":{\"message\":\"no\"}}\n\n", "gemini_generate"),
        ("openai", "", "openai_chat"),
    ] {
        let response = read(stream, &served_by(provider)).unwrap();
        assert_eq!(response.dialect, dialect, "{provider} {stream}");
        assert!(response.findings.is_empty(), "{:?}", response.findings);
    }
    assert_eq!(read(RESPONSES, &served_by("openai")).unwrap().ending, Ending::Complete);
}

#[test]
fn a_stream_in_another_dialect_than_the_named_one_is_refused() {
    let error = read(RESPONSES, &named("openai_chat")).unwrap_err();
    assert_eq!(error, Error::OtherStream { asked: "openai_chat", found: "openai_responses" });
    assert_eq!(error.to_string(), "this looks like an openai_responses stream, not openai_chat");
    assert!(read(WRAPPED, &named("bedrock_converse")).is_err());
}

#[test]
fn only_the_first_certain_frame_may_contradict_the_named_dialect() {
    // A gateway passes on the output of another provider.
    for stream in [[ERROR, CHAT].concat(), [CHAT, ERROR].concat(), [CHAT, RESPONSES].concat()] {
        assert_eq!(read(&stream, &named("openai_chat")).unwrap().dialect, "openai_chat");
    }
    assert!(read(&[ERROR, RESPONSES].concat(), &named("openai_chat")).is_err());
}

#[test]
fn an_error_in_a_stream_about_a_wrong_request_is_not_retried() {
    let start = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n";
    for said in [
        "messages.3.content.0.tool_use.input.timeout: Input should be a valid integer",
        "Unrecognized request argument supplied: timeout",
    ] {
        let error = |kind| {
            let error = format!("{{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"{said}\"}}}}");
            let stream = format!("{start}event: error\ndata: {error}\n\n");
            let error = read(&stream, &StreamOptions::default()).unwrap().error.unwrap();
            (error.text, error.verdict.class)
        };
        assert_eq!(error("invalid_request_error"), (said.to_owned(), Class::Corruption));
        assert_eq!(error("overloaded_error"), (said.to_owned(), Class::Transient));
    }
}

#[test]
fn a_broken_connection_is_transient_whatever_its_text() {
    let broken = |before: &str, said: &str| {
        let mut stream = ResponseStream::new(&served_by("openai")).unwrap();
        stream.feed(before.as_bytes());
        stream.fail(said);
        let error = stream.finish().unwrap().error.unwrap();
        (error.text, error.verdict.name, error.verdict.class)
    };
    let told = |text: &str, name, class| (text.to_owned(), name, class);
    for said in ["x", "", "der Draht ist gerissen", "hyper::Error(Body, Custom)"] {
        assert_eq!(broken("", said), told(said, "cut-stream", Class::Transient));
    }
    assert_eq!(broken("", "connection reset by peer").1, "network-failed");
    assert_eq!(broken("", "invalid x-api-key").2, Class::Fatal, "a known error keeps its class");
    // An earlier error of the provider counts.
    let error = "data: {\"choices\":[{\"index\":0,\"delta\":{}}]}\n\ndata: {\"error\":{\"message\":\"no\"}}\n\n";
    assert_eq!(broken(error, "connection closed"), told("no", "unknown-error", Class::Fatal));
}
