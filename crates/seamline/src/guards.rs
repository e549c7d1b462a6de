//! What watches over a turn: when a request is sent again ([`Retry`]), whether an answer was
//! filtered ([`filter`], [`filter_message`]), when a model calls tools wrongly again and again ([`Breaker`]), and when
//! a run gets nowhere ([`StallGuard`]), all without a clock, a thread or a socket of their own;
//! and the commands that tools run ([`supervise`]).
//!
//! The page `docs/guards.md` says what each of them does; `examples/guarded_turn` is a whole turn
//! with all of them.
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

/// Says whether a streamed answer was filtered or refused: what, why, and what to do.
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

pub use crate::supervise::{ChildEnd, ChildLimits, ChildOutput, Ran, Stopper, Supervised, supervise};

/// What the page about guards shows must run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guards.md")]
struct Page;
