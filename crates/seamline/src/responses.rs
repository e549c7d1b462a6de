//! Facts about responses beside their content: the model, why it stopped, and the tokens.
//!
//! ```
//! let response = br#"{"model":"gpt-5","choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
//! let facts = seamline::responses::facts("openai_chat", response);
//! assert_eq!((facts.model.as_deref(), facts.input_tokens, facts.output_tokens), (Some("gpt-5"), Some(7), Some(3)));
//! assert_eq!(facts.finish_reasons, ["stop"]);
//! ```

#[doc(inline)]
pub use seamline_dialects::ResponseFacts;

/// The facts about a response that does not stream, such as [`Response::message`](crate::stream::Response::message); none
/// where the dialect is not known or the response cannot be read.
pub fn facts(dialect: &str, response: &[u8]) -> ResponseFacts {
    seamline_dialects::by_name(dialect).map(|dialect| dialect.response_facts(response)).unwrap_or_default()
}
