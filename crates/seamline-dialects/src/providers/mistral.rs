//! Mistral, whose older tokenizers want ids of their own.

use seamline_model::{
    Alphabet, Constraints, Echo, ErrorText, FirstRole, IdDemand, LastRole, Members, Models, NameDemand,
    ReasoningDemands, Role, RoleGap, RoleOrder, ToolDemands, Uniqueness,
};

use super::Provider;
use crate::openai_chat;

/// The Mistral API with models of tokenizer v7 and v11. Those of v3 also refuse text beside calls, which nothing checks.
pub(super) const PROVIDER: Provider = Provider {
    name: "mistral",
    company: "mistral",
    aliases: &["mistralai"],
    about: "Mistral's API, models up to tokenizer v11: ids of nine letters and digits",
    dialect: openai_chat::NAME,
    models: &[
        "mistral-large",
        "mistral-small-",
        "mistral-medium",
        "open-mistral",
        "open-mixtral",
        "codestral-",
        "ministral-",
        "pixtral-",
    ],
    fallback: false,
    constraints: CONSTRAINTS,
};

/// The demands of the API on these models.
pub(super) const CONSTRAINTS: Constraints = Constraints {
    // MIS-2, executed and observed.
    call_id: IdDemand {
        alphabet: Alphabet::Exactly(9),
        alphabet_error: ErrorText("Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."),
        length_max: 9,
        length_error: ErrorText(""),
        prefix: "",
        ..openai_chat::CONSTRAINTS.call_id
    },
    // MIS-3, observed with the hosted API until the end of 2025.
    role_order: Some(RoleOrder {
        never: &[(Role::Tool, Role::User), (Role::Tool, Role::System), (Role::Assistant, Role::System)],
        error: ErrorText("Unexpected role '{kind}' after role '{id}'"),
    }),
    // MIS-5, executed.
    unanswered: ErrorText("Not the same number of function calls and responses"),
    // MIS-5, executed: calls of the very first message are not counted, so that their results are too many.
    first_role: FirstRole::AnyBeforeCalls(ErrorText("Not the same number of function calls and responses")),
    // MIS-3, executed: there are no such roles; the text is that of its parser.
    role_gaps: &[
        RoleGap { role: Role::Developer, instead: Role::System, models: Models::ALL, error: ErrorText("") },
        RoleGap { role: Role::Function, instead: Role::Tool, models: Models::ALL, error: ErrorText("") },
    ],
    // MIS-5, executed.
    orphan: ErrorText("Unexpected tool call id {id} in tool results"),
    // MIS-5, executed.
    duplicate_result: ErrorText("Duplicate tool call id {id} in tool results"),
    // MIS-5, executed.
    unique_ids: Uniqueness::Cycle(ErrorText("Duplicate tool call id {id} in assistant message")),
    // MIS-7, executed: also where a result repeats it.
    tool_name: NameDemand {
        in_results: true,
        error: ErrorText(
            "Function name was {kind} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum \
             length of 64.",
        ),
        ..NameDemand::WORD
    },
    // MIS-1: an object is taken as well, a string is always right.
    input: openai_chat::COMPATIBLE.input,
    // MIS-6, executed: an assistant may say nothing, a user may not; the text names the types of its parser.
    null_content: Some(ErrorText("")),
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
    // MIS-8, CMP-12, observed. MIS-10: reasoning is in the content.
    reasoning: ReasoningDemands {
        echo: Echo::Refused {
            fields: &["reasoning_content", "reasoning", "reasoning_details"],
            partly: &[],
            instead: None,
            error: ErrorText("messages.{message}.assistant.{kind}: Extra inputs are not permitted (extra_forbidden)"),
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
    ..openai_chat::COMPATIBLE
};
