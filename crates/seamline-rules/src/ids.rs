//! Ids and names that a provider takes.

use seamline_model::{IdDemand, NameDemand};

/// An id that the provider takes and nobody has, the same for the same `seed`.
pub(crate) fn made(demand: &IdDemand, seed: &str, is_taken: impl Fn(&str) -> bool) -> String {
    demand.made(seed, is_taken)
}

/// Whether a provider takes an id.
pub(crate) fn is_legal(demand: &IdDemand, id: &str) -> bool {
    demand.takes(id)
}

/// A name that the provider takes.
pub(crate) fn made_name(demand: &NameDemand, name: &str) -> String {
    demand.made(name)
}
