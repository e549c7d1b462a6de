//! Servers that speak the Responses dialect, taken at their most tolerant.

use seamline_model::{Constraints, ErrorText, IdDemand};

use super::Provider;
use crate::openai_responses;

/// A server that speaks Responses, without known demands of its own.
pub(super) const PROVIDER: Provider = Provider {
    name: "responses-compatible",
    company: "responses-compatible",
    aliases: &[],
    about: "servers that speak Responses: only what all of them demand",
    dialect: openai_responses::NAME,
    models: &[],
    fallback: true,
    constraints: CONSTRAINTS,
};

/// The demands that all servers of the dialect share.
pub(super) const CONSTRAINTS: Constraints = Constraints {
    // OAR-13 was seen with OpenAI alone.
    call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_responses::CONSTRAINTS.call_id },
    // Recorded and accepted: ids of other forms, and reasoning under an id before items without (DeepSeek).
    item_id: None,
    // OAR-10 is about what OpenAI keeps.
    repeated_item: None,
    // OAR-6 is about what OpenAI keeps.
    dangling_reasoning: None,
    // No documented behaviour: each server decides what it stores.
    lost_item: None,
    // OAR-16 was seen with OpenAI alone.
    part_type: None,
    ..openai_responses::CONSTRAINTS
};
