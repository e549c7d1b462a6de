//! Models of Anthropic on Bedrock, in Anthropic's dialect.

use seamline_model::{Constraints, ErrorText, ToolDemands};

use super::Provider;
use crate::anthropic_messages;

/// Anthropic's Messages API on Bedrock's `InvokeModel`.
pub(super) const PROVIDER: Provider = Provider {
    name: "bedrock-anthropic",
    company: "bedrock",
    aliases: &[],
    about: "Anthropic's Messages API on Amazon Bedrock: calls need declared tools",
    dialect: anthropic_messages::NAME,
    models: &["anthropic.claude", "us.anthropic.", "eu.anthropic.", "apac.anthropic.", "global.anthropic."],
    fallback: false,
    constraints: Constraints {
        tools: ToolDemands {
            // ANT-44, observed.
            none_declared: Some(ErrorText(
                "Requests which include `tool_use` or `tool_result` blocks must define tools.",
            )),
            ..anthropic_messages::CONSTRAINTS.tools
        },
        ..anthropic_messages::CONSTRAINTS
    },
};
