//! DeepSeek, in the dialect of Anthropic.

use seamline_model::{Constraints, ErrorText, ReasoningDemands};

use super::{Provider, messages_compatible};
use crate::anthropic_messages;

/// DeepSeek's endpoint that speaks the Messages API.
pub(super) const PROVIDER: Provider = Provider {
    name: "deepseek-anthropic",
    company: "deepseek",
    aliases: &["deepseek-messages"],
    about: "DeepSeek's Messages endpoint: thinking comes back with tool calls while thinking is on",
    dialect: anthropic_messages::NAME,
    models: &["deepseek-"],
    fallback: false,
    constraints: Constraints {
        reasoning: ReasoningDemands {
            // DSK-5, observed.
            leading: Some(ErrorText("The `content[].thinking` in the thinking mode must be passed back to the API.")),
            ..ReasoningDemands::NONE
        },
        ..messages_compatible::CONSTRAINTS
    },
};
