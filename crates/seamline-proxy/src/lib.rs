//! A proxy between agents and language models: it repairs the history of a request before the provider sees it.

pub mod breaker;
mod error;
pub mod identity;
pub mod incident;
pub mod ledger;
mod members;
pub mod sign;
pub mod signatures;
pub mod upstreams;
pub mod websocket;

pub use error::Error;
