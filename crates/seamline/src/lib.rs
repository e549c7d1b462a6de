//! Keeps the conversation between an agent and a language model whole.
//!
//! [`check`] finds violations in a request body and predicts the error of the provider. [`repair`] fixes what it can
//! without losing any content. Both take the body as bytes and leave intact parts unchanged. [`convert`] converts a
//! body into another dialect. [`classify`] explains an error of a provider. [`AnswerStream`] assembles a streamed
//! response.
//!
//! ```
//! let body = br#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[
//!   {"role":"user","content":"what is in main.rs?"},
//!   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
//!   {"role":"user","content":"never mind"}]}"#;
//!
//! let options = seamline::Options::default();
//! let checked = seamline::check(body, &options)?;
//! assert_eq!(checked.findings[0].name, "unanswered-call");
//!
//! let repaired = seamline::repair(body, &options)?;
//! assert!(repaired.changed() && repaired.remaining.is_empty());
//! assert!(seamline::check(&repaired.body, &options)?.findings.is_empty());
//! # Ok::<(), seamline::Error>(())
//! ```
//!
//! The features `sqlite` and `postgres` add their stores to [`open_store`]; [`store::MemoryStore`] is always there. The
//! feature `schemas`, which is on by default, lets the [breaker](guards::Breaker) check the arguments of tool calls.
//! Operations log what they do with [`tracing`]: counts, codes and places, never the text of a conversation.

mod body;
mod catalogue;
mod check;
mod convert;
mod error;
mod finding;
mod guard;
pub mod guards;
mod log;
mod outline;
pub mod policy;
mod preview;
mod repair;
pub mod session;
pub mod store;
mod stream;
mod subject;
mod supervise;

pub use body::Body;
pub use catalogue::{Group, RULES, Rule, documentation, flaw, flaw_documentation, rule};
pub use check::{Checked, check};
pub use convert::{Carried, ConvertOptions, Converted, ForeignReasoning, Rename, Side, convert, convertible_dialects};
pub use error::Error;
pub use finding::{Finding, FixSummary, Related};
pub use guard::{
    Certainty, Class, Failure, KnownError, NamedPlace, Verdict, causes, classify, error_providers, known_errors,
};
pub use outline::{OutlineBlock, OutlineKind, OutlineMessage, message_spans, outline, outline_at};
pub use policy::Policy;
pub use repair::{Dropped, Prefix, RepairAction, Repaired, repair};
pub use seamline_dialects::Error as BodyError;
pub use seamline_rules::Loss;
pub use store::open_store;
pub use stream::{Answer, AnswerBlock, AnswerCall, AnswerError, AnswerStream, ArgSource, Ending};
pub use stream::{FLAWS, FlawKind, Framing, RefusedCall, StreamFinding, StreamLimits, StreamOptions};
pub use subject::{Options, dialect_names};

/// The largest size of a body, in bytes.
///
/// ```
/// assert!(seamline::BYTES_MAX > 32_000_000, "more than providers accept");
/// ```
#[doc(inline)]
pub use seamline_dialects::BYTES_MAX;

/// All providers, by name and by model.
///
/// ```
/// let provider = seamline::providers::for_model("openai_chat", Some("gpt-5"));
/// assert_eq!(provider.name, "openai");
/// assert!(seamline::providers::ALL.iter().all(|provider| !provider.about.is_empty()));
/// ```
#[doc(inline)]
pub use seamline_dialects::providers;

/// A provider and its constraints.
///
/// ```
/// let provider: &seamline::Provider = seamline::providers::by_name("anthropic").unwrap();
/// assert_eq!(provider.dialect, "anthropic_messages");
/// ```
#[doc(inline)]
pub use seamline_dialects::Provider;

/// The safety of a fix.
///
/// ```
/// use seamline::Safety;
///
/// assert!(Safety::Safe < Safety::Unsafe);
/// assert_eq!(Safety::DisplayOnly.as_str(), "display_only");
/// ```
#[doc(inline)]
pub use seamline_model::Safety;

/// The role of the author of a message.
///
/// ```
/// assert_eq!(seamline::Role::Assistant.as_str(), "assistant");
/// ```
pub use seamline_model::Role;

/// The severity of a finding.
///
/// ```
/// use seamline::Severity;
///
/// assert!(Severity::Warning < Severity::Error);
/// ```
#[doc(inline)]
pub use seamline_model::Severity;

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
