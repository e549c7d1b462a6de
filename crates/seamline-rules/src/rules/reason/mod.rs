//! The model's reasoning, and what it belongs to.

pub(crate) mod dangling_reasoning;
mod forgetting;
pub(crate) mod lost_item;
