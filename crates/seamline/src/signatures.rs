//! The signatures that providers give tool calls: where they are in responses, and which calls of a request lost theirs.
//!
//! ```
//! use seamline::signatures;
//!
//! let response = br#"{"candidates":[{"content":{"role":"model","parts":[
//!     {"functionCall":{"id":"c1","name":"ls","args":{}},"thoughtSignature":"c2ln"}]}}]}"#;
//! let call = signatures::of_response("gemini_generate", response).remove(0);
//! assert_eq!((call.id.as_str(), call.tool.as_str(), call.signature.as_str()), ("c1", "ls", "c2ln"));
//!
//! let request = br#"{"contents":[{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{}}}]}]}"#;
//! assert_eq!(signatures::unsigned_calls("gemini_generate", request)[0].id, "c1");
//! ```

use seamline_dialects::{Dialect, by_name};

use crate::Signatures;

#[doc(inline)]
pub use seamline_dialects::SignableCall;

/// Whether calls of a dialect can have a signature.
pub fn are_in(dialect: &str) -> bool {
    by_name(dialect).is_some_and(Dialect::has_signed_calls)
}

/// The signed calls of a response that does not stream; none where it cannot be read.
pub fn of_response(dialect: &str, response: &[u8]) -> Vec<SignableCall> {
    by_name(dialect).map(|dialect| dialect.signed_calls(response)).unwrap_or_default()
}

/// The calls of a request that have no signature, or only the provider's replacement for a lost one.
pub fn unsigned_calls(dialect: &str, body: &[u8]) -> Vec<SignableCall> {
    by_name(dialect).map(|dialect| dialect.unsigned_calls(body)).unwrap_or_default()
}

/// Whether a request may have the provider's replacement for a lost signature. It is a search for bytes.
pub fn may_be_replaced(dialect: &str, body: &[u8]) -> bool {
    by_name(dialect).is_some_and(|dialect| dialect.may_have_stand_ins(body))
}

/// Puts signatures in the places of the provider's replacements for lost ones; `None` where there is nothing to put.
/// [`Options::signatures`](crate::Options::signatures) covers the calls without one.
///
/// ```
/// let body = br#"{"contents":[{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{}},
///     "thoughtSignature":"skip_thought_signature_validator"}]}]}"#;
/// let known: seamline::Signatures = [("c1".to_owned(), "c2ln".to_owned())].into_iter().collect();
/// let signed = seamline::signatures::restored("gemini_generate", body, &known).unwrap();
/// assert!(String::from_utf8(signed).unwrap().contains(r#""thoughtSignature":"c2ln""#));
/// ```
pub fn restored(dialect: &str, body: &[u8], signatures: &Signatures) -> Option<Vec<u8>> {
    by_name(dialect)?.with_signatures(body, signatures)
}
