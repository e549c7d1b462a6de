//! What a provider's error means and what to do about it.
//!
//! [`classify`] takes what came back instead of an answer (a status, headers, the text of a
//! body or of an error inside a stream) and says whether the conversation is at fault, the
//! moment, the account, the content or the length. What providers say is data: one file per
//! family of providers under `errors/`, what each saying means under `kinds/`. [`filter`] says
//! whether an answer or an error is a content filter's or a refusal (`filters/`), [`Retry`] when
//! a request is sent again, [`Breaker`] when a model calls tools wrongly again and again, and
//! [`StallGuard`] when a run gets nowhere; [`GuardPolicy`] has the limits of all of them. None of them reads a clock: time is an argument.
#![deny(clippy::disallowed_methods)]

mod answer;
mod breaker;
mod classify;
mod errors;
mod excerpt;
mod filter;
mod filters;
mod kinds;
mod known;
mod patterns;
mod place;
mod policy;
mod reading;
mod retry;
mod stall;
mod views;
mod wait;

pub use breaker::{
    Breaker, BreakerLimits, BreakerScope, CallInRound, CheckedCall, Outcome, Reset, SchemaError, StopTurn, ToolSchemas,
    TurnLoop,
};
pub use classify::{Certainty, Failure, Verdict, classify};
pub use errors::{is_provider, providers};
pub use filter::{Filtered, FilteredPart, filter, filter_message};
pub use kinds::{Class, Kind};
pub use known::{Known, all};
pub use place::{IDS_MAX, Place};
pub use policy::GuardPolicy;
pub use retry::{Advice, Emitted, GaveUp, OnCorruption, Retry, RetryPolicy};
pub use stall::{StallGuard, StallLimits, StallNotice};
pub use views::{LAYERS_MAX, TEXT_BYTES_MAX};
