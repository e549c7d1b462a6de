//! Rules, policy and the repair loop.
//!
//! A rule is a file that finds one kind of violation; it reads the transcript, its
//! pairing and the provider's constraints, and never knows which dialect they came
//! from. The policy says how each kind of damage is put right. [`repair`] applies
//! fixes until nothing is left that the policy allows to be fixed.
#![deny(clippy::disallowed_methods)]

mod apply;
mod check;
mod claims;
mod context;
mod ids;
pub mod policy;
mod rule;
mod rules;

pub use apply::{Action, Loss, PASSES_MAX, Repair, Rewrite, Taken, repair};
pub use check::check;
pub use policy::RepairPolicy;
pub use rule::{Group, Rule};
pub use rules::ALL;
