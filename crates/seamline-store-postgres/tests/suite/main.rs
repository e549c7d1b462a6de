//! Tests of the store on a real PostgreSQL.
//!
//! `cargo xtask test` starts a server and names it in variables. Without a server each test prints that it was skipped.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed setup fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints its counts, or that it was skipped")]

mod bench;
mod broken;
mod conformance;
mod damaged;
mod encrypted;
mod erased;
mod formats;
mod leases;
mod proxy;
mod stopped;
mod take_over;
mod tenants;
