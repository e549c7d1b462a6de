//! Providers and dialects by name.
//!
//! ```
//! use seamline::providers;
//!
//! let provider = providers::for_model("openai_chat", Some("gpt-5"));
//! assert_eq!(provider.name, "openai");
//! assert_eq!(providers::by_name("anthropic").unwrap().dialect, "anthropic_messages");
//!
//! // A company serves several dialects; the pair selects the demands.
//! let deepseek = providers::by_name("deepseek").unwrap();
//! assert_eq!(deepseek.speaking("openai_responses", None).provider.name, "deepseek-responses");
//! assert!(!providers::by_name("groq").unwrap().speaking("openai_responses", None).is_known);
//! assert!(providers::dialect_names().contains(&"gemini_generate"));
//! ```

#[doc(inline)]
pub use seamline_dialects::message_lists;
#[doc(inline)]
pub use seamline_dialects::providers::{ALL, Pair, Provider, by_name, for_model};

use seamline_dialects::Dialect;

/// The provider and the dialect that one name means: `groq`, `openai_responses`, or both as `groq/openai_responses`.
/// A dialect alone means no provider.
pub(crate) fn side(name: &str) -> Option<(Option<&'static Provider>, &'static Dialect)> {
    if let Some((provider, dialect)) = name.split_once('/') {
        return Some((Some(by_name(provider)?), seamline_dialects::by_name(dialect)?));
    }
    match by_name(name) {
        Some(provider) => Some((Some(provider), seamline_dialects::by_name(provider.dialect)?)),
        None => Some((None, seamline_dialects::by_name(name)?)),
    }
}

/// Makes the note about a provider whose demands in the dialect are not known.
pub(crate) fn note(pair: &Pair) -> Option<String> {
    let Provider { name, dialect, .. } = pair.provider;
    let note = || {
        format!(
            "the demands of `{name}` in {dialect} are not known; the ones that all servers of that dialect share apply"
        )
    };
    (!pair.is_known).then(note)
}

/// The names of all dialects.
pub fn dialect_names() -> Vec<&'static str> {
    seamline_dialects::ALL.iter().map(|dialect| dialect.name()).collect()
}
