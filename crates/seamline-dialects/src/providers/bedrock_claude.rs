//! Anthropic's models on Bedrock.

use seamline_model::{Constraints, ErrorText, LastRole, PairDemands, ReasoningDemands};

use super::Provider;
use crate::anthropic_messages::NO_PREFILL;
use crate::bedrock_converse;

const NOT_AFTER_ITS_CALL: ErrorText = ErrorText(
    "The model returned the following errors: messages.{message}: `tool_use` ids were found without `tool_result` \
     blocks immediately after: {id}. Each `tool_use` block must have a corresponding `tool_result` block in the next \
     message.",
);

/// Claude through Converse, which passes on what Anthropic demands (BED-13).
pub(super) const PROVIDER: Provider = Provider {
    name: "bedrock-claude",
    company: "bedrock",
    aliases: &[],
    about: "Claude on AWS Bedrock, with the demands of Anthropic",
    dialect: bedrock_converse::NAME,
    models: &[
        "anthropic.claude",
        "us.anthropic.claude",
        "eu.anthropic.claude",
        "apac.anthropic.claude",
        "global.anthropic.claude",
    ],
    fallback: false,
    constraints: Constraints {
        // ANT-9, documented.
        results_first: Some(NOT_AFTER_ITS_CALL),
        // Recorded by pydantic-ai (#6081, also #3253); the provider accepts the document in a message of its own.
        pairs: PairDemands { documents_apart: Some(NOT_AFTER_ITS_CALL), ..bedrock_converse::CONSTRAINTS.pairs },
        // ANT-13, documented.
        last_role: LastRole::NotAssistant {
            models: NO_PREFILL,
            error: ErrorText(
                "The model returned the following errors: This model does not support assistant message prefill. The \
                 conversation must end with a user message.",
            ),
        },
        reasoning: ReasoningDemands {
            // BED-12, in the code of other clients; the text is ANT-23's.
            unsigned: Some(ErrorText(
                "The model returned the following errors: messages.{message}.content.{block}.thinking.signature: Field \
                 required",
            )),
            ..ReasoningDemands::NONE
        },
        ..bedrock_converse::CONSTRAINTS
    },
};
