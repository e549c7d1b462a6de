//! Keeps the conversation between an agent and a language model whole.
//!
//! [`check`](fn@check) reports what is wrong with a request body and which error the provider would return.
//! [`repair`](fn@repair) fixes what it can fix without losing content. Both take the body as bytes and leave every byte
//! that needs no fix. [`convert`](fn@convert) writes a body in another dialect. [`classify`](fn@classify) explains an
//! error of a provider. [`stream::ResponseStream`] assembles a streamed response. [`session::Session`] keeps a
//! conversation in a [store](fn@open_store) and runs tool cycles.
//!
//! Each function has a module of the same name with the types that it takes and returns.
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
//! assert!(repaired.is_changed() && repaired.remaining.is_empty());
//! assert!(seamline::check(&repaired.body, &options)?.findings.is_empty());
//! # Ok::<(), seamline::Error>(())
//! ```
//!
//! # Features
//!
//! | Feature | Adds |
//! |---|---|
//! | `schemas` (default) | the [breaker](guards::Breaker) checks the arguments of tool calls against JSON Schemas |
//! | `sqlite` | [`open_store`] takes `sqlite:FILE`; [`files`] reads the databases of other programs |
//! | `postgres` | [`open_store`] takes `postgres://…` |
//!
//! The store in memory, [`store::MemoryStore`], is always there.
//!
//! Operations log what they do with [`tracing`]: counts, codes and places, never the text of a conversation.

mod body;
pub mod check;
pub mod classify;
pub mod convert;
mod cuts;
pub mod endpoint;
pub mod error;
pub mod files;
pub mod finding;
pub mod guards;
pub mod json;
mod log;
mod native;
pub mod outline;
pub mod policy;
mod preview;
pub mod providers;
pub mod repair;
pub mod report;
pub mod requests;
pub mod responses;
pub mod rules;
pub mod sanitize;
pub mod session;
pub mod signatures;
pub mod store;
pub mod stream;
mod subject;
mod supervise;
pub mod trim;
pub mod words;

#[doc(inline)]
pub use check::check;
#[doc(inline)]
pub use classify::classify;
#[doc(inline)]
pub use convert::convert;
#[doc(inline)]
pub use error::Error;
#[doc(inline)]
pub use finding::Finding;
#[doc(inline)]
pub use outline::outline;
#[doc(inline)]
pub use policy::Policy;
#[doc(inline)]
pub use repair::repair;
#[doc(inline)]
pub use sanitize::sanitize;
#[doc(inline)]
pub use store::open_store;
pub use subject::Options;
#[doc(inline)]
pub use trim::trim;

/// The safety of a fix: whether it can lose, alter or guess content.
#[doc(inline)]
pub use seamline_model::Safety;

/// Signatures that a provider gave tool calls.
#[doc(inline)]
pub use seamline_model::Signatures;

/// The severity of a finding.
#[doc(inline)]
pub use seamline_model::Severity;

/// Runs the code blocks of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
