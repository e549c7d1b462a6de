//! Cohere.

use seamline_model::{Constraints, ErrorText, IdDemand, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// Cohere's v2 chat, whose messages have the shape of Chat Completions.
pub(super) const PROVIDER: Provider = Provider {
    name: "cohere",
    aliases: &["cohere-v2"],
    about: "Cohere's chat, v2 or its compatible endpoint",
    dialect: openai_chat::NAME,
    models: &["command-"],
    fallback: false,
    constraints: Constraints {
        // OAC-5 and OAC-7 were seen with OpenAI and Azure alone.
        call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_chat::CONSTRAINTS.call_id },
        empty_call_list: None,
        // The models that do not know a role are OpenAI's.
        role_gap: None,
        // COH-2, observed. The text is not known.
        unanswered: ErrorText(""),
        orphan: ErrorText(""),
        duplicate_result: ErrorText(""),
        // COH-1: results may hold documents.
        text_only_results: None,
        tools: ToolDemands::NONE,
        ..openai_chat::CONSTRAINTS
    },
};
