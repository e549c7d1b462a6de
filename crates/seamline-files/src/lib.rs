//! The files of other programs: agents, libraries and tools that keep conversations in a form of their own.
//!
//! Such a file is not a request body, even where its messages look like those of a provider: it holds branches, metadata
//! and records that are never sent. [`recognise`] names the program by a sample of the file, so that a caller can refuse
//! to treat the file as a body. Each program has one file in `programs/`.
#![deny(clippy::disallowed_methods)]

pub mod bodies;
#[cfg(feature = "sqlite")]
pub mod database;
pub mod folder;
mod json;
pub mod leftovers;
pub mod lines;
mod list;
pub mod native;
mod nesting;
pub mod packed;
mod place;
mod program;
mod programs;
mod sample;
pub mod session;
mod sketch;

pub use place::SessionFolder;
pub use program::Program;
pub use programs::{ALL, EXPORTERS};

use sample::Sample;

/// Recognises the program that wrote a file, by the file's name and its first bytes. A request body of a provider is
/// never recognised as another program's file. A compressed file is recognised by its content.
///
/// ```
/// let line = br#"{"type":"session_meta","payload":{"id":"0199"},"timestamp":"2026-01-01T00:00:00Z"}"#;
/// assert_eq!(seamline_files::recognise("rollout.jsonl", line).map(|program| program.name), Some("Codex"));
///
/// let body = br#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}"#;
/// assert_eq!(seamline_files::recognise("request.json", body), None);
/// ```
pub fn recognise(name: &str, bytes: &[u8]) -> Option<&'static Program> {
    let head = packed::head(bytes, Sample::BYTES_MAX);
    let sample = Sample::of(name, &head);
    ALL.iter().copied().find(|program| (program.detect)(&sample))
}
