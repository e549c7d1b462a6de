//! The host as a client sees it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed setup fails the test")]

mod bodies;
mod client;
mod guards;
mod protocol;
mod schema;
mod sessions;
mod streams;

/// A request with a tool call that has no result.
const BROKEN: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"read"},  {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},{"role":"user","content":"never mind"}]}"#;
