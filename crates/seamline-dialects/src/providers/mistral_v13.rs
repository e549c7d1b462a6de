//! Mistral with its newer tokenizers.

use seamline_model::{
    Constraints, Echo, ErrorText, IdDemand, LastRole, Members, NameDemand, ReasoningDemands, Role, RoleOrder,
    ToolDemands, Uniqueness,
};

use super::Provider;
use crate::openai_chat;

/// The Mistral API with models of tokenizer v13 and v15.
pub(super) const PROVIDER: Provider = Provider {
    name: "mistral-v13",
    aliases: &[],
    about: "Mistral's API, models from tokenizer v13 on: any ids",
    dialect: openai_chat::NAME,
    models: &["magistral-", "devstral-"],
    fallback: false,
    constraints: Constraints {
        // MIS-2, executed: anything but nothing and `null`.
        call_id: IdDemand {
            alphabet_error: ErrorText("Tool call id must be a non-empty string"),
            length_max: usize::MAX,
            length_error: ErrorText(""),
            ..openai_chat::CONSTRAINTS.call_id
        },
        // MIS-3, executed: newer validators take a user right after a tool.
        role_order: Some(RoleOrder {
            never: &[(Role::Tool, Role::System), (Role::Assistant, Role::System)],
            error: ErrorText("Unexpected role '{kind}' after role '{id}'"),
        }),
        // MIS-5, executed.
        unanswered: ErrorText("Not the same number of function calls and responses"),
        // MIS-5, executed.
        orphan: ErrorText("Unexpected tool call id {id} in tool results"),
        // MIS-5, executed.
        duplicate_result: ErrorText("Duplicate tool call id {id} in tool results"),
        // MIS-5, executed.
        unique_ids: Uniqueness::Cycle(ErrorText("Duplicate tool call id {id} in assistant message")),
        // MIS-7, executed.
        tool_name: NameDemand {
            also: "",
            length_max: 64,
            error: ErrorText(
                "Function name was {kind} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum \
                 length of 64.",
            ),
        },
        // MIS-1: an object is taken as well, a string is always right.
        input: openai_chat::CONSTRAINTS.input,
        // MIS-6, executed: an assistant may say nothing, a user may not; the text names the types of its parser.
        null_content: Some(ErrorText("")),
        // Recorded and accepted: `tool_calls: []`.
        empty_call_list: None,
        // The models that do not know a role are OpenAI's.
        role_gap: None,
        // MIS-4, executed.
        last_role: LastRole::NotAssistantUnlessContinued(ErrorText(
            "Expected last role User or Tool (or Assistant with prefix) for serving but got assistant",
        )),
        // MIS-8, observed; the text is put together from the parts of the error. Recorded and accepted: `prefix`.
        members: Members::Closed {
            known: &["prefix"],
            error: ErrorText("messages.{message}.{kind}.{id}: Extra inputs are not permitted (extra_forbidden)"),
            in_block: ErrorText(""),
        },
        // MIS-8, CMP-12, observed. MIS-10: reasoning stands in the content.
        reasoning: ReasoningDemands {
            echo: Echo::Refused {
                fields: &["reasoning_content", "reasoning", "reasoning_details"],
                instead: None,
                error: ErrorText(
                    "messages.{message}.assistant.{kind}: Extra inputs are not permitted (extra_forbidden)",
                ),
            },
            ..ReasoningDemands::NONE
        },
        tools: ToolDemands {
            // MIS-7, executed.
            name: Some(ErrorText(
                "Function name was {id} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum \
                 length of 64.",
            )),
            ..ToolDemands::NONE
        },
        ..openai_chat::CONSTRAINTS
    },
};
