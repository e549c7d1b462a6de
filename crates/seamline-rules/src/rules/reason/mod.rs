//! The model's reasoning.
pub(crate) mod missing_reasoning;
pub(crate) mod missing_thinking;
pub(crate) mod unsigned_thinking;
pub(crate) mod unwanted_reasoning;
