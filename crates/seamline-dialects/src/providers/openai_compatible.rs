//! Servers that speak the Chat Completions dialect, taken at their most tolerant.

use seamline_model::{Constraints, ErrorText, IdDemand, ReasoningDemands, ToolDemands};

use super::Provider;
use crate::openai_chat;

/// A server that speaks Chat Completions, without known demands of its own.
pub(super) const PROVIDER: Provider = Provider {
    name: "openai-compatible",
    company: "openai-compatible",
    aliases: &[],
    about: "servers that speak Chat Completions: only what all of them demand",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: true,
    constraints: Constraints {
        // Recorded and accepted: 50 characters (OpenRouter).
        call_id: IdDemand { length_max: usize::MAX, length_error: ErrorText(""), ..openai_chat::CONSTRAINTS.call_id },
        // Recorded and accepted: `tool_calls: []` (Mistral).
        empty_call_list: None,
        // Recorded and accepted: `tools: []` (Hugging Face).
        tools: ToolDemands::NONE,
        // Some servers read members that OpenAI does not define.
        reasoning: ReasoningDemands::NONE,
        ..openai_chat::CONSTRAINTS
    },
};
