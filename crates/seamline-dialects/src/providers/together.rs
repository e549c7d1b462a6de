//! Together.

use seamline_model::{Constraints, ErrorText, IdDemand, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// Together's own endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "together",
    aliases: &["together-ai", "togetherai"],
    about: "Together's Chat Completions: results are strings",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    constraints: Constraints {
        // OAC-5 and OAC-7 were seen with OpenAI and Azure alone.
        call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_chat::CONSTRAINTS.call_id },
        empty_call_list: None,
        // The models that do not know a role are OpenAI's.
        role_gap: None,
        // TOG-1, in the SDK's types: a plain string. The text is not known.
        listed_results: Some(ErrorText("")),
        tools: ToolDemands::NONE,
        ..openai_chat::CONSTRAINTS
    },
};
