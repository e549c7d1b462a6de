//! Older and compatible Messages endpoints, which want roles to alternate.

use seamline_model::{Constraints, ErrorText, FirstRole, Joint, Limits, Members, ReasoningDemands, SameRole};

use super::Provider;
use crate::anthropic_messages;

/// Endpoints that speak the Messages dialect and still enforce its older demands.
pub(super) const PROVIDER: Provider = Provider {
    name: "anthropic-compatible",
    company: "anthropic-compatible",
    aliases: &[],
    about: "older and compatible Messages endpoints, where roles must alternate",
    dialect: anthropic_messages::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // ANT-12, observed in other clients' error tables.
        same_role: SameRole::Rejected(ErrorText(
            "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"{kind}\" roles in \
             a row",
        )),
        // ANT-12.
        first_role: FirstRole::User(ErrorText("messages: first message must use the \"user\" role")),
        // No recorded request shows that these endpoints join neighbouring messages.
        joint_results: Joint::Apart,
        // OLL-10: blocks that are not known are ignored; nothing is known of the others.
        members: Members::Open,
        // No documented behaviour.
        system_place: None,
        // No documented behaviour.
        trailing_space: None,
        // No documented behaviour.
        server_id: None,
        // DSK-5, OLL-10: their models think without signatures.
        reasoning: ReasoningDemands::NONE,
        limits: Limits::NONE,
        ..anthropic_messages::CONSTRAINTS
    },
};
