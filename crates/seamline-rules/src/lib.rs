//! Rules, policy and the repair loop.
//!
//! A rule is a file that finds one kind of violation. It reads the transcript, its pairing and the provider's
//! constraints, and does not know the dialect. The policy selects how each kind of damage is repaired. [`repair`]
//! applies fixes until none is left that the policy allows.
#![deny(clippy::disallowed_methods)]

mod action_kind;
mod actions;
mod apply;
mod check;
mod claims;
mod context;
mod ending;
mod found;
mod ids;
mod input;
mod only_content;
pub mod policy;
mod rejected;
mod removed;
mod rule;
mod rules;
mod settled;
mod unknown;

pub use action_kind::ActionKind;
pub use actions::{ACTIONS_LISTED_MAX, Action, DroppedContent, Loss, UnlistedActions};
pub use apply::{PASSES_MAX, Repair, Rewrite, repair, repair_found};
pub use check::{check, check_on};
pub use found::{Found, LISTED_MAX};
pub use input::{Left, RepairInput};
pub use policy::RepairPolicy;
pub use rejected::reasoning_marks;
pub use rule::{Group, Rule};
pub use rules::ALL;
pub use settled::Settled;
