//! What is said of a stream beforehand, and what the stream says of itself.

use seamline::{Answer, AnswerStream, Ending, Error, StreamOptions};

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

/// What comes of a stream, in whatever pieces it comes.
fn read(stream: &str, options: &StreamOptions) -> Result<Answer, Error> {
    let in_pieces = |length| {
        let mut answer = AnswerStream::new(options)?;
        for piece in stream.as_bytes().chunks(length) {
            answer.feed(piece);
        }
        answer.finish()
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
fn what_a_stream_certainly_is_counts_more_than_what_its_provider_serves() {
    for (provider, stream, dialect) in [
        ("openai", RESPONSES, "openai_responses"),
        ("openai", CHAT, "openai_chat"),
        ("bedrock", WRAPPED, "anthropic_messages"),
        ("anthropic", CHAT, "openai_chat"),
        // What several dialects write alike is the provider's.
        ("openai", ERROR, "openai_chat"),
        ("gemini", "data: {\"error\":{\"message\":\"no\"}}\n\n", "gemini_generate"),
        ("openai", "", "openai_chat"),
    ] {
        let answer = read(stream, &served_by(provider)).unwrap();
        assert_eq!(answer.dialect, dialect, "{provider} {stream}");
        assert!(answer.findings.is_empty(), "{:?}", answer.findings);
    }
    assert_eq!(read(RESPONSES, &served_by("openai")).unwrap().ending, Ending::Complete);
}

#[test]
fn a_stream_in_another_dialect_than_was_named_is_refused() {
    let error = read(RESPONSES, &named("openai_chat")).unwrap_err();
    assert_eq!(error, Error::OtherStream { asked: "openai_chat", found: "openai_responses" });
    assert_eq!(error.to_string(), "this looks like an openai_responses stream, not openai_chat");
    assert!(read(WRAPPED, &named("bedrock_converse")).is_err());
}

#[test]
fn only_the_first_certain_frame_may_contradict_what_was_named() {
    // A gateway passes on what another provider said.
    for stream in [[ERROR, CHAT].concat(), [CHAT, ERROR].concat(), [CHAT, RESPONSES].concat()] {
        assert_eq!(read(&stream, &named("openai_chat")).unwrap().dialect, "openai_chat");
    }
    assert!(read(&[ERROR, RESPONSES].concat(), &named("openai_chat")).is_err());
}
