//! Tests of the proxy through its socket, in front of the strict fake provider.

mod bodies;
mod client;
mod clean;
mod codings;
mod damaged;
mod disconnects;
mod hostile;
mod modes;
mod retries;
mod sockets;
mod stage;
mod streams;
