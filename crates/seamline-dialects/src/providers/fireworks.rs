//! Fireworks.

use seamline_model::{Constraints, Echo, ErrorText, Members, Models, ReasoningDemands, Role, RoleGap};

use super::Provider;
use crate::openai_chat;

/// Fireworks' own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "fireworks",
    company: "fireworks",
    aliases: &["fireworks-ai"],
    about: "Fireworks' Chat Completions: unknown members are rejected",
    dialect: openai_chat::NAME,
    models: &["accounts/fireworks"],
    fallback: false,
    constraints: Constraints {
        // FWK-1, observed.
        members: Members::Closed {
            known: &[],
            error: ErrorText("Extra inputs are not permitted, field: 'messages[{message}].{id}'"),
            in_block: ErrorText(""),
        },
        // FWK-1, inferred: a result of the old form needs a `function_call`, which is rejected.
        role_gaps: &[RoleGap { role: Role::Function, instead: Role::Tool, models: Models::ALL, error: ErrorText("") }],
        // FWK-1, CMP-12, observed: the member it knows is `reasoning_content`.
        reasoning: ReasoningDemands {
            echo: Echo::Refused {
                fields: &["reasoning", "reasoning_details"],
                partly: &[],
                instead: Some("reasoning_content"),
                error: ErrorText("Extra inputs are not permitted, field: 'messages[{message}].{kind}'"),
            },
            ..ReasoningDemands::NONE
        },
        ..openai_chat::COMPATIBLE
    },
};
