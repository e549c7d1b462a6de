//! Test data and an independent check for Seamline's tests.
//!
//! - [`strict`] checks whether a provider would accept a body.
//! - [`scope`] lists every short conversation over a small alphabet.
//! - [`generate`] draws good conversations and breaks them.
//! - [`peer_cases`] holds the twenty conversations other programs were measured with.
//! - [`lossless`] finds lost payloads.
//! - [`events`] reads calls and results of a body.
//! - [`unknown`] puts unknown parts into healthy bodies.
//!
//! This crate depends on no other crate of the workspace, because a check that used the rules could not find their
//! mistakes.

mod dialect;
pub mod events;
pub mod generate;
pub mod lossless;
pub mod peer_cases;
pub mod provider;
pub mod render;
pub mod scope;
pub mod strict;
pub mod text;
pub mod transcript;
pub mod unknown;

pub use dialect::Dialect;
