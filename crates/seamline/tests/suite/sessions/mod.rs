//! Sessions, on every store that there is.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test ends it, in its helpers too")]

mod aside;
mod asking;
mod broken_off;
mod calls;
mod checks;
mod compactions;
mod crash_walk;
mod crashes;
mod damaged;
mod dropped;
mod envelopes;
mod faulty;
mod forgotten;
mod given_up;
mod held;
mod hosts;
mod keys;
mod late;
mod late_kept;
mod layers;
mod long_logs;
mod meanwhile;
mod origins;
mod reported;
mod resets;
mod seed_000;
mod seed_001;
mod seed_002;
mod stopping;
mod stores;
mod strangers;
mod switched_off;
mod table;
mod takeovers;
mod unrunnable;
