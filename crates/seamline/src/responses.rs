//! Facts about responses beside their content (the model, why it stopped, the tokens), and errors in the form of a
//! provider.
//!
//! ```
//! let response = br#"{"model":"gpt-5","choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
//! let facts = seamline::responses::facts("openai_chat", response);
//! assert_eq!((facts.model.as_deref(), facts.input_tokens, facts.output_tokens), (Some("gpt-5"), Some(7), Some(3)));
//! assert_eq!(facts.finish_reasons, ["stop"]);
//! ```

#[doc(inline)]
pub use seamline_dialects::{ErrorBody, FailedEvent, FailedStream, FailureCause, ResponseFacts};

use seamline_dialects::{Dialect, by_name, openai_chat};

/// The facts about a response that does not stream, such as [`Response::message`](crate::stream::Response::message); none
/// where the dialect is not known or the response cannot be read.
pub fn facts(dialect: &str, response: &[u8]) -> ResponseFacts {
    by_name(dialect).map(|dialect| dialect.response_facts(response)).unwrap_or_default()
}

/// The response by which the providers of a dialect report an error with this status. For an unknown dialect
/// it is the response of `OpenAI`, which most servers write.
///
/// ```
/// let body = seamline::responses::error_body("anthropic_messages", 400, "no messages");
/// assert_eq!(body.json, r#"{"type":"error","error":{"type":"invalid_request_error","message":"no messages"}}"#);
/// ```
pub fn error_body(dialect: &str, status: u16, message: &str) -> ErrorBody {
    writer(dialect).error_body(status, message)
}

/// The event by which the providers of a dialect end a stream that failed. For an unknown dialect it is the
/// event of `OpenAI`, which most servers write.
///
/// ```
/// use seamline::responses::{FailedStream, FailureCause, failed_event};
///
/// let failed = FailedStream { message: "closed", cause: FailureCause::Broken, last: b"" };
/// let event = failed_event("anthropic_messages", &failed);
/// assert_eq!(event.name, Some("error"));
/// assert_eq!(event.data, r#"{"type":"error","error":{"type":"api_error","message":"closed"}}"#);
/// ```
pub fn failed_event(dialect: &str, failed: &FailedStream<'_>) -> FailedEvent {
    writer(dialect).failed_event(failed)
}

fn writer(dialect: &str) -> &'static Dialect {
    by_name(dialect).unwrap_or(&openai_chat::DIALECT)
}
