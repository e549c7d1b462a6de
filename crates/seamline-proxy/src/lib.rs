//! A proxy between agents and language models: it repairs the history of a request before the provider sees it.
//!
//! [`Proxy`] listens and forwards. A [`Reporter`](report::Reporter) takes what happened; [`Control`] changes the
//! configuration while the proxy runs.

mod admin;
mod arrival;
mod body;
pub mod breaker;
mod call;
mod coding;
pub mod config;
mod counts;
mod decide;
mod ending;
mod error;
mod facts;
mod forward;
mod handle;
mod harder;
mod headers;
pub mod identity;
pub mod incident;
mod inspect;
mod join;
pub mod journal;
pub mod keep;
pub mod launch;
pub mod ledger;
mod length;
mod log;
mod members;
pub mod metrics;
pub mod network;
mod note;
mod observe;
mod proxy;
mod recent;
mod rejection;
pub mod report;
mod rescue;
mod response;
mod room;
mod route;
mod seats;
mod server;
pub mod settings;
pub mod sign;
pub mod signatures;
mod socket;
#[cfg(feature = "otel")]
pub mod spans;
mod state;
mod stop;
pub mod telemetry;
mod unpack;
mod upstream;
pub mod upstreams;
pub mod websocket;

pub use error::Error;
pub use proxy::{Control, Proxy};
