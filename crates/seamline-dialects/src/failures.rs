//! Errors in the form of a provider, for clients that know only that form.

use crate::json::{Json, member, object};
use crate::results::written;

/// The functions that write errors as the provider writes them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failures {
    /// Writes the response with this status.
    pub body: fn(u16, &str) -> ErrorBody,
    /// Writes the event that ends a failed stream.
    pub event: fn(&FailedStream<'_>) -> FailedEvent,
}

/// The response by which a provider reports an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorBody {
    /// The text of the body.
    pub json: String,
    /// The name and the value of a header that tells clients the kind of the error.
    pub header: Option<(&'static str, &'static str)>,
}

/// A stream that ends before its response is complete.
#[derive(Debug, Clone, Copy)]
pub struct FailedStream<'a> {
    /// The text for the client.
    pub message: &'a str,
    /// The reason why the stream ends.
    pub cause: FailureCause,
    /// The last bytes that the client got.
    pub last: &'a [u8],
}

/// Why a stream ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCause {
    /// The provider closed the connection.
    Broken,
    /// The provider sent nothing for too long.
    Stalled,
}

/// The event that ends a failed stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedEvent {
    /// The name of the event, where events have one.
    pub name: Option<&'static str>,
    /// The data of the event: a JSON object.
    pub data: String,
}

impl ErrorBody {
    /// A body without a header.
    pub(crate) fn of(json: &Json<'_>) -> Self {
        Self { json: written(json), header: None }
    }
}

impl FailedEvent {
    /// The event by which most providers end a failed stream.
    pub(crate) fn named_error(data: &Json<'_>) -> Self {
        Self { name: Some("error"), data: written(data) }
    }

    /// An event without a name.
    pub(crate) fn unnamed(data: &Json<'_>) -> Self {
        Self { name: None, data: written(data) }
    }
}

/// The errors of `OpenAI`, which most other servers write, too.
pub(crate) const OPENAI: Failures = Failures {
    body: |status, message| ErrorBody::of(&openai(message, openai_type(status))),
    event: |failed| FailedEvent::unnamed(&openai(failed.message, "server_error")),
};

fn openai(message: &str, kind: &str) -> Json<'static> {
    let error = [member("message", message), member("type", kind), ("param", Json::Null), ("code", Json::Null)];
    object([("error", object(error))])
}

fn openai_type(status: u16) -> &'static str {
    if is_of_client(status) { "invalid_request_error" } else { "server_error" }
}

/// The name of a status in Google's APIs.
pub(crate) fn google_status(status: u16) -> &'static str {
    match status {
        407 => "UNAUTHENTICATED",
        404 => "NOT_FOUND",
        408 | 504 => "DEADLINE_EXCEEDED",
        status if is_of_client(status) => "INVALID_ARGUMENT",
        _ => "UNAVAILABLE",
    }
}

/// Whether a status says that the client made the error.
pub(crate) fn is_of_client(status: u16) -> bool {
    (400..500).contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ALL, by_name};

    const STALLED: FailedStream<'_> = FailedStream {
        message: "too late",
        cause: FailureCause::Stalled,
        last: br#"data: {"type":"x","sequence_number": 41}"#,
    };

    #[test]
    fn each_dialect_writes_the_body_of_an_error_in_its_own_form() {
        for (dialect, status, expected) in [
            ("anthropic_messages", 413, r#"{"type":"error","error":{"type":"request_too_large","message":"a \"b\""}}"#),
            ("anthropic_messages", 503, r#"{"type":"error","error":{"type":"overloaded_error","message":"a \"b\""}}"#),
            ("anthropic_messages", 502, r#"{"type":"error","error":{"type":"api_error","message":"a \"b\""}}"#),
            ("bedrock_converse", 400, r#"{"message":"a \"b\""}"#),
            ("gemini_generate", 504, r#"{"error":{"code":504,"message":"a \"b\"","status":"DEADLINE_EXCEEDED"}}"#),
            ("gemini_interactions", 400, r#"{"error":{"message":"a \"b\"","code":"invalid_argument"}}"#),
            (
                "openai_chat",
                400,
                r#"{"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,"code":null}}"#,
            ),
            (
                "openai_responses",
                502,
                r#"{"error":{"message":"a \"b\"","type":"server_error","param":null,"code":null}}"#,
            ),
        ] {
            assert_eq!(by_name(dialect).unwrap().error_body(status, "a \"b\"").json, expected, "{dialect}");
        }
    }

    #[test]
    fn only_bedrock_names_the_error_in_a_header() {
        for dialect in ALL {
            let header = dialect.error_body(504, "late").header;
            let expected = (dialect.name() == "bedrock_converse").then_some("ModelTimeoutException");
            assert_eq!(header.map(|(_, kind)| kind), expected, "{dialect:?}");
        }
    }

    #[test]
    fn each_dialect_ends_a_failed_stream_with_its_own_event() {
        for (dialect, name, data) in [
            (
                "anthropic_messages",
                Some("error"),
                r#"{"type":"error","error":{"type":"timeout_error","message":"too late"}}"#,
            ),
            (
                "bedrock_converse",
                None,
                r#"{"error":{"message":"too late","type":"server_error","param":null,"code":null}}"#,
            ),
            ("gemini_generate", None, r#"{"error":{"code":504,"message":"too late","status":"DEADLINE_EXCEEDED"}}"#),
            (
                "gemini_interactions",
                Some("error"),
                r#"{"error":{"message":"too late","code":"gateway_timeout"},"event_type":"error"}"#,
            ),
            ("openai_chat", None, r#"{"error":{"message":"too late","type":"server_error","param":null,"code":null}}"#),
            (
                "openai_responses",
                Some("error"),
                r#"{"type":"error","code":"server_error","message":"too late","param":null,"sequence_number":42}"#,
            ),
        ] {
            let event = by_name(dialect).unwrap().failed_event(&STALLED);
            assert_eq!((event.name, event.data.as_str()), (name, data), "{dialect}");
        }
    }

    #[test]
    fn a_broken_connection_is_another_error_than_a_stall() {
        let broken = FailedStream { cause: FailureCause::Broken, ..STALLED };
        let data = |dialect: &str| by_name(dialect).unwrap().failed_event(&broken).data;
        assert!(data("anthropic_messages").contains("api_error"));
        assert!(data("gemini_generate").contains(r#""code":503"#));
        assert!(data("gemini_interactions").contains("unavailable"));
        // The first event of a stream has the number 0.
        let first = FailedStream { last: b"", ..STALLED };
        let event = by_name("openai_responses").unwrap().failed_event(&first);
        assert!(event.data.ends_with(r#""sequence_number":0}"#), "{event:?}");
    }
}
