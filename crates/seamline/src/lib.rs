//! Keeps the conversation between an agent and a language model whole.
//!
//! [`check`] says what is wrong with a request body and which error the provider would
//! answer with. [`repair`] puts right what can be put right without losing what anyone
//! said. Both take the body as bytes and never change what needs no change.
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

mod catalogue;
mod check;
mod error;
mod finding;
mod outline;
mod preview;
mod repair;
mod subject;

pub use catalogue::{documentation, rule};
pub use check::{Checked, check};
pub use error::Error;
pub use finding::{Finding, FixSummary, Related};
pub use outline::{OutlineBlock, OutlineMessage, message_spans, outline, outline_at};
pub use repair::{Dropped, Prefix, RepairAction, Repaired, repair};
pub use seamline_dialects::BYTES_MAX;
pub use seamline_dialects::providers::{self, Provider};
pub use seamline_model::{Safety, Severity};
pub use seamline_rules::policy::{self, Policy};
pub use seamline_rules::{ALL as RULES, Group, Rule};
pub use subject::{Options, dialect_names};
