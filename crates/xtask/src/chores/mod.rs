//! One file per chore; a step of `test` that runs more than one command has its own file.

mod agent_page;
pub(crate) mod bench;
mod bench_packages;
pub(crate) mod clients;
pub(crate) mod codegen;
pub(crate) mod dist;
pub(crate) mod drift;
pub(crate) mod figures;
pub(crate) mod format;
pub(crate) mod fuzz;
mod knob_page;
mod licences;
pub(crate) mod new_dialect;
pub(crate) mod new_rule;
mod node;
mod oracles;
pub(crate) mod postgres;
mod provider_pages;
mod python;
mod python_package;
mod readme;
pub(crate) mod soak;
mod tally;
pub(crate) mod test;
pub(crate) mod tidy;
