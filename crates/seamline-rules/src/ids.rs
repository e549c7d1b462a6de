//! Makes and checks ids and names that a provider accepts.

use seamline_model::{IdDemand, NameDemand};

/// Makes an id that the provider accepts and that is not taken, always the same for the same `seed`.
pub(crate) fn make_id(demand: &IdDemand, seed: &str, is_taken: impl Fn(&str) -> bool) -> String {
    demand.made(seed, is_taken)
}

/// Whether a provider accepts an id.
pub(crate) fn is_legal(demand: &IdDemand, id: &str) -> bool {
    demand.takes(id)
}

/// Makes a name that the provider accepts.
pub(crate) fn make_name(demand: &NameDemand, name: &str) -> String {
    demand.made(name)
}
