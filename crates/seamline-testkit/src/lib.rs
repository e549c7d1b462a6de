//! What Seamline's tests share: conversations, good and broken, and a judge that shares no code with the rules.
//!
//! - [`strict`] says whether a provider would accept a body, straight from its rule book.
//! - [`scope`] lists every short conversation over a small alphabet.
//! - [`generate`] draws good conversations and breaks them.
//! - [`peer_cases`] holds the twenty conversations other programs were measured with.
//! - [`lossless`] says what went missing.
//! - [`events`] reads calls and results of a body.
//!
//! Nothing here depends on another crate of the workspace: a judge that borrowed the rules could not convict them.

mod dialect;
pub mod events;
pub mod generate;
pub mod lossless;
pub mod peer_cases;
pub mod render;
pub mod scope;
pub mod strict;
pub mod text;
pub mod transcript;

pub use dialect::Dialect;
