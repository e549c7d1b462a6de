//! Sessions, on every store that there is.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test ends it, in its helpers too")]

mod asking;
mod calls;
mod checks;
mod compactions;
mod corners;
mod crashes;
mod damaged;
mod dropped;
mod envelopes;
mod faulty;
mod forgotten;
mod forks;
mod given_up;
mod hosts;
mod keys;
mod late;
mod late_kept;
mod layers;
mod meanwhile;
mod order;
mod origins;
mod proofs;
mod resets;
mod seed_000;
mod seed_001;
mod seed_002;
mod stopping;
mod stores;
mod strangers;
mod table;
mod takeovers;
mod unrunnable;
