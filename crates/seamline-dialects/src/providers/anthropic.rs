//! Anthropic itself.

use super::Provider;
use crate::anthropic_messages;

/// Anthropic's own Messages endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "anthropic",
    company: "anthropic",
    aliases: &["claude"],
    about: "Anthropic's Messages API",
    dialect: anthropic_messages::NAME,
    models: &["claude"],
    fallback: true,
    constraints: anthropic_messages::CONSTRAINTS,
};
