//! Anthropic on Vertex.

use super::Provider;
use crate::anthropic_messages;

/// Anthropic's Messages API on Vertex.
pub(super) const PROVIDER: Provider = Provider {
    name: "vertex-anthropic",
    company: "vertex",
    aliases: &["vertex-claude"],
    about: "Anthropic's Messages API on Google's Vertex",
    dialect: anthropic_messages::NAME,
    models: &[],
    fallback: false,
    // VTX-1, observed: all demands and texts of Anthropic apply. VTX-2: its ids are made of the same letters.
    constraints: anthropic_messages::CONSTRAINTS,
};
