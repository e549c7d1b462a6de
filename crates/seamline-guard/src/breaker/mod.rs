//! Stops a model that calls tools wrongly again and again.
//!
//! A round is one message of the model with its calls. Before a call is run its arguments are
//! held against the tool's schema; what does not fit goes back to the model as an error, so
//! that every call is answered. A tool that was called wrongly too often in a row gets an
//! answer that says what it wants; rounds that repeat each other and only fail end the turn.

mod fault;
mod openapi;
mod places;
mod round;
mod rows;
mod schema;
mod work;

pub use round::{Breaker, BreakerLimits, BreakerScope, CallInRound, CheckedCall, Outcome, Reset, StopTurn, TurnLoop};
pub use schema::{SchemaError, ToolSchemas};
