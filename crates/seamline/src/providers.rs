//! Providers and dialects by name.
//!
//! ```
//! use seamline::providers;
//!
//! let provider = providers::for_model("openai_chat", Some("gpt-5"));
//! assert_eq!(provider.name, "openai");
//! assert_eq!(providers::by_name("anthropic").unwrap().dialect, "anthropic_messages");
//! assert!(providers::dialect_names().contains(&"gemini_generate"));
//! ```

#[doc(inline)]
pub use seamline_dialects::providers::{ALL, Provider, by_name, for_model};

/// The names of all dialects.
pub fn dialect_names() -> Vec<&'static str> {
    seamline_dialects::ALL.iter().map(|dialect| dialect.name()).collect()
}
