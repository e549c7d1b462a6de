//! The store against a real PostgreSQL.
//!
//! `cargo xtask test` starts one and says in variables where it is. Where there is none, each test says that it was
//! left out.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]
#![expect(clippy::print_stdout, reason = "a test says how much it looked at, or that it could not")]

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
