//! Sessions that other programs keep in databases are checked, repaired, and given back by an undo.
#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, clippy::format_push_string, reason = "a database that cannot be made fails its test")]

#[path = "databases/bed.rs"]
mod bed;
#[path = "databases/damage.rs"]
mod damage;
#[path = "databases/goose.rs"]
mod goose;
#[path = "databases/langgraph.rs"]
mod langgraph;
#[path = "databases/openai_agents.rs"]
mod openai_agents;
#[path = "databases/openclaw.rs"]
mod openclaw;
#[path = "databases/opencode.rs"]
mod opencode;
#[path = "databases/real.rs"]
mod real;
#[path = "databases/safety.rs"]
mod safety;
