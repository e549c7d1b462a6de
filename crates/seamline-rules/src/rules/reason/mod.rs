//! The model's reasoning and signatures.

pub(crate) mod dangling_reasoning;
pub(crate) mod lost_item;
pub(crate) mod missing_reasoning;
pub(crate) mod missing_thinking;
mod removal;
pub(crate) mod thinking_while_off;
pub(crate) mod unsigned_call;
pub(crate) mod unsigned_thinking;
pub(crate) mod unwanted_reasoning;
pub(crate) mod unwanted_signature;
