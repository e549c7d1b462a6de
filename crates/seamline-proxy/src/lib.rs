//! A proxy between agents and language models: it repairs the history of a request before the provider sees it.

pub mod breaker;
pub mod config;
mod error;
pub mod identity;
pub mod incident;
pub mod journal;
pub mod keep;
pub mod launch;
pub mod ledger;
mod members;
pub mod metrics;
pub mod report;
pub mod settings;
pub mod sign;
pub mod signatures;
pub mod telemetry;
pub mod upstreams;
pub mod websocket;

pub use error::Error;
