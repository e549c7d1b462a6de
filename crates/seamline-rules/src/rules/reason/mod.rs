//! The model's reasoning, signatures, and what they belong to.

pub(crate) mod dangling_reasoning;
mod forgetting;
pub(crate) mod lost_item;
pub(crate) mod missing_reasoning;
pub(crate) mod missing_thinking;
pub(crate) mod thinking_while_off;
pub(crate) mod unsigned_call;
pub(crate) mod unsigned_thinking;
pub(crate) mod unwanted_reasoning;
pub(crate) mod unwanted_signature;
