//! Guards of a turn. [`Retry`] decides when to send a request again. [`filter`] and [`filter_message`] detect filtered
//! responses. [`Breaker`] stops a model that keeps calling tools wrongly, and [`StallGuard`] stops a run without
//! progress. None of them has a clock, a thread or a socket. [`supervise`] runs the commands of tools.
//!
//! `docs/guards.md` describes each of them; `examples/guarded_turn` is a complete turn with all of them.
//!
//! ```
//! use std::time::Duration;
//! use seamline::classify::Failure;
//! use seamline::guards::{Advice, Emitted, Retry, RetryPolicy};
//!
//! let mut retry = Retry::new(RetryPolicy::default());
//! let failure = Failure { status: Some(429), headers: &[("retry-after-ms", "1500")], ..Failure::default() };
//! let advice = retry.handle_failure(&seamline::classify(&failure), b"{}", Emitted::Nothing);
//! assert_eq!(advice, Advice::SendAgain { wait: Duration::from_millis(1500) });
//! ```

pub use seamline_guard::{
    Advice, Breaker, BreakerLimits, BreakerScope, CallInRound, CheckedCall, Emitted, Filtered, FilteredPart, GaveUp,
    GuardPolicy, Kind, OnCorruption, Outcome, Reset, Retry, RetryPolicy, SchemaError, StallGuard, StallLimits,
    StallNotice, StopTurn, ToolSchemas, TurnLoop, filter,
};

/// Tells whether a streamed response was filtered or refused: which part, why, and what to do.
///
/// ```
/// use seamline::guards::{FilteredPart, filter_message};
/// use seamline::stream::{ResponseStream, StreamOptions};
///
/// let mut stream = ResponseStream::new(&StreamOptions::default())?;
/// stream.feed(b"data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}}\n\n");
/// let response = stream.finish()?;
/// let found = filter_message(&response).unwrap();
/// assert_eq!((found.part, found.category.as_deref()), (FilteredPart::Request, Some("PROHIBITED_CONTENT")));
/// # Ok::<(), seamline::Error>(())
/// ```
pub fn filter_message(response: &crate::stream::Response) -> Option<&Filtered> {
    response.filtered.as_ref()
}

mod review;
mod rounds;

pub use self::review::{Reviewed, review};
pub use crate::supervise::{ChildEnd, ChildLimits, ChildOutput, Ran, Stopper, Supervised, supervise};

/// Runs the examples of `docs/guards.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guards.md")]
struct Page;
