//! Seamline for Node.js: the native part of the npm package `seamline`.
//!
//! Functions take bytes and options as JSON, and return reports as JSON. The JavaScript in `lib/` gives them types.

// The macros export nothing from a build for tests, so all functions would be unused there.
#![cfg(not(test))]

mod bodies;
mod catalogue;
mod failure;
mod session;
mod shortened;
mod stream;
