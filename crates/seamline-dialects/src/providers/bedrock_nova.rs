//! Amazon's own models on Bedrock.

use seamline_model::{Constraints, ErrorText, FirstRole, ReasoningDemands, ToolDemands};

use super::Provider;
use crate::bedrock_converse;

/// Amazon Nova through Converse.
pub(super) const PROVIDER: Provider = Provider {
    name: "bedrock-nova",
    company: "bedrock",
    aliases: &[],
    about: "Amazon Nova on AWS Bedrock, where the user must speak first",
    dialect: bedrock_converse::NAME,
    models: &["amazon.nova", "us.amazon.nova", "eu.amazon.nova", "apac.amazon.nova", "global.amazon.nova"],
    fallback: false,
    constraints: Constraints {
        // BED-7; only Claude was recorded to take an assistant first.
        first_role: FirstRole::User(ErrorText(
            "A conversation must start with a user message. Try again with a conversation that starts with a user \
             message.",
        )),
        reasoning: ReasoningDemands {
            // BED-12, in the code of other clients.
            signed: Some(ErrorText(
                "This model doesn't support the reasoningContent.reasoningText.signature field. Remove \
                 reasoningContent.reasoningText.signature and try again.",
            )),
            ..ReasoningDemands::NONE
        },
        tools: ToolDemands {
            // BED-3, observed: the request is taken, and the call of such a tool fails while the model writes it.
            name: Some(ErrorText("")),
            // BED-19, observed (LibreChat#13838).
            cache_mark: Some(ErrorText(
                "Malformed input request: #/toolConfig/tools/{block}: extraneous key [cachePoint] is not permitted",
            )),
            // BED-3, observed: any name with a hyphen.
            never: "-",
            ..bedrock_converse::CONSTRAINTS.tools
        },
        ..bedrock_converse::CONSTRAINTS
    },
};
