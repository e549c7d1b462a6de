//! Fireworks.

use seamline_model::{Constraints, Echo, ErrorText, IdDemand, Members, ReasoningDemands, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// Fireworks' own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "fireworks",
    aliases: &["fireworks-ai"],
    about: "Fireworks' Chat Completions: unknown members are rejected",
    dialect: openai_chat::NAME,
    models: &["accounts/fireworks"],
    fallback: false,
    constraints: Constraints {
        // OAC-5 and OAC-7 were seen with OpenAI and Azure alone.
        call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_chat::CONSTRAINTS.call_id },
        empty_call_list: None,
        // The models that do not know a role are OpenAI's.
        role_gap: None,
        // FWK-1, observed.
        members: Members::Closed {
            known: &[],
            error: ErrorText("Extra inputs are not permitted, field: 'messages[{message}].{id}'"),
            in_block: ErrorText(""),
        },
        // FWK-1, CMP-12, observed: the member it knows is `reasoning_content`.
        reasoning: ReasoningDemands {
            echo: Echo::Refused {
                fields: &["reasoning", "reasoning_details"],
                instead: Some("reasoning_content"),
                error: ErrorText("Extra inputs are not permitted, field: 'messages[{message}].{kind}'"),
            },
            ..ReasoningDemands::NONE
        },
        tools: ToolDemands::NONE,
        ..openai_chat::CONSTRAINTS
    },
};
