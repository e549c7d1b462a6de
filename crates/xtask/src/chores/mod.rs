//! One file per chore; the steps of `test` that are more than one command have their own.

pub(crate) mod bench;
pub(crate) mod codegen;
pub(crate) mod format;
pub(crate) mod fuzz;
mod licences;
pub(crate) mod new_dialect;
pub(crate) mod new_rule;
mod oracles;
pub(crate) mod postgres;
mod provider_pages;
mod python;
mod readme;
pub(crate) mod soak;
mod tally;
pub(crate) mod test;
pub(crate) mod tidy;
