//! Guards for requests to a provider: they read errors and decide what to do next.
//!
//! [`classify`] reads a failed response (status, headers, body, or the error inside a stream) and returns its cause: the
//! conversation, the moment, the account, the content or the length. The known error texts are data: one file per family
//! of providers under `errors/`, and their meanings under `kinds/`. [`filter`] finds content filters and refusals
//! (`filters/`). [`Retry`] decides whether to send a request again, [`Breaker`] stops a model that repeats wrong tool
//! calls, and [`StallGuard`] stops a run without progress. [`GuardPolicy`] holds their limits. No guard reads a clock: the
//! caller passes the time.
#![deny(clippy::disallowed_methods)]

mod breaker;
mod classify;
mod errors;
mod excerpt;
mod filter;
mod filters;
mod kinds;
mod known;
mod member;
mod patterns;
mod place;
mod policy;
mod reading;
mod response;
mod retry;
mod views;
mod wait;
mod watchdog;

pub use breaker::{
    Breaker, BreakerLimits, BreakerScope, CallInRound, CheckedCall, Outcome, Reset, SchemaError, StopTurn, ToolSchemas,
    TurnLoop,
};
pub use classify::{Certainty, Failure, Verdict, classify};
pub use errors::{is_dialect, is_provider, providers};
pub use filter::{Filtered, FilteredPart, filter, filter_message};
pub use kinds::{Class, Kind};
pub use known::{Known, all};
pub use member::{MEMBERS_MAX, MemberFault, NamedMember};
pub use place::{IDS_MAX, NamedPlace};
pub use policy::GuardPolicy;
pub use retry::{Advice, Emitted, GaveUp, OnCorruption, Retry, RetryPolicy};
pub use views::{LAYERS_MAX, TEXT_BYTES_MAX};
pub use watchdog::{StallGuard, StallLimits, StallNotice};
