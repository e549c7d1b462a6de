//! Tests of the proxy through its socket, in front of the strict fake provider.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod bodies;
mod clean;
mod client;
mod codings;
mod damaged;
mod disconnects;
mod durable;
mod hostile;
mod http2;
mod ledger;
mod modes;
mod network;
mod retries;
mod secrets;
mod signed;
#[cfg(feature = "aws")]
mod signing;
mod sockets;
#[cfg(feature = "otel")]
mod spans;
mod stage;
mod streams;
