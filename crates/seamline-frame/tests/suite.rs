//! Tests of the public interface, in one binary.

#![expect(clippy::unwrap_used, reason = "a stream that cannot be built fails its test")]

#[path = "suite/aws.rs"]
mod aws;
#[path = "suite/bench.rs"]
mod bench;
#[path = "suite/cuts.rs"]
mod cuts;
#[path = "suite/json.rs"]
mod json;
#[path = "suite/sse.rs"]
mod sse;
