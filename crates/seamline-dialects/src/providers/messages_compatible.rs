//! Servers that speak the Messages dialect, taken at their most tolerant.

use seamline_model::{Constraints, FirstRole, Limits, Members, PairDemands, ReasoningDemands, SameRole};

use super::Provider;
use crate::anthropic_messages;

/// A server that speaks Messages and of which nothing more is known.
pub(super) const PROVIDER: Provider = Provider {
    name: "messages-compatible",
    company: "messages-compatible",
    aliases: &[],
    about: "servers that speak Messages: only what all of them demand",
    dialect: anthropic_messages::NAME,
    models: &[],
    fallback: false,
    constraints: CONSTRAINTS,
};

/// The demands that all servers of the dialect share.
pub(super) const CONSTRAINTS: Constraints = Constraints {
    // ANT-12 was seen with older endpoints only.
    same_role: SameRole::Accepted,
    // ANT-12 was seen with older endpoints only.
    first_role: FirstRole::Any,
    // OLL-10: blocks that are not known are ignored; nothing is known of the others.
    members: Members::Open,
    // No documented behaviour.
    system_place: None,
    // No documented behaviour.
    trailing_space: None,
    // No documented behaviour.
    server_id: None,
    // ANT-36 to ANT-38 are about tools that Anthropic runs.
    pairs: PairDemands::NONE,
    // ANT-40 is about summaries that Anthropic signs.
    compaction: None,
    // DSK-5, OLL-10: their models think without signatures.
    reasoning: ReasoningDemands::NONE,
    // Nothing is known of them.
    limits: Limits::NONE,
    ..anthropic_messages::CONSTRAINTS
};
