//! Test data and an independent check for Seamline's tests.
//!
//! - [`strict`] checks whether a provider would accept a body.
//! - [`scope`] lists every short conversation over a small alphabet.
//! - [`generate`] generates good conversations at random and breaks them.
//! - [`peer_cases`] has the twenty conversations that we tried on other programs.
//! - [`lossless`] lists the content that a body has lost.
//!
//! This crate depends on no other crate of the workspace, because a check that used the rules could not find their
//! mistakes.

mod dialect;
pub mod generate;
pub mod lossless;
pub mod peer_cases;
pub mod render;
pub mod scope;
pub mod strict;
pub mod text;
pub mod transcript;

pub use dialect::Dialect;
