//! A circuit breaker for models that repeat wrong tool calls.
//!
//! A round is one message of the model with its tool calls. Before a call runs, the breaker checks its arguments against
//! the tool's schema. A wrong call gets an error result, so every call is answered. After several wrong rounds in a row
//! the error result lists the tool's required fields. Rounds that repeat each other and only fail end the turn.

mod call_error;
#[cfg(feature = "schemas")]
mod openapi;
#[cfg(feature = "schemas")]
mod places;
mod round;
mod rows;
mod schema;
#[cfg(feature = "schemas")]
mod validator;
#[cfg(not(feature = "schemas"))]
#[path = "no_validator.rs"]
mod validator;
#[cfg(feature = "schemas")]
mod work;

pub use round::{Breaker, BreakerLimits, BreakerScope, CallInRound, CheckedCall, Outcome, Reset, StopTurn, TurnLoop};
pub use schema::{SchemaError, ToolSchemas};
