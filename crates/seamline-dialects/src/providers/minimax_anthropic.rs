//! `MiniMax`, in the dialect of Anthropic.

use seamline_model::{Constraints, ErrorText, Limits, Members, ReasoningDemands};

use super::{Provider, messages_compatible};
use crate::anthropic_messages;

/// `MiniMax`'s endpoint that speaks the Messages API.
pub(super) const PROVIDER: Provider = Provider {
    name: "minimax-anthropic",
    company: "minimax",
    aliases: &[],
    about: "MiniMax's Messages endpoint: results need a separate message",
    dialect: anthropic_messages::NAME,
    models: &["MiniMax-"],
    fallback: false,
    constraints: Constraints {
        // Case 12, measured (opencode#32609).
        results_alone: Some(NOT_AFTER_ITS_CALL),
        // Case 12: the one text that is known about pairs.
        unanswered: NOT_AFTER_ITS_CALL,
        // Case 12: the one text that is known about pairs.
        orphan: NOT_AFTER_ITS_CALL,
        // Case 12: a second result answers no open call.
        duplicate_result: NOT_AFTER_ITS_CALL,
        // Case 12: the one text that is known about pairs.
        results_first: Some(NOT_AFTER_ITS_CALL),
        // ANT-20 is Anthropic's pattern; no other is documented.
        call_id: messages_compatible::CALL_ID,
        // No documented behaviour.
        members: Members::Open,
        // No documented behaviour.
        system_place: None,
        // No documented behaviour.
        trailing_space: None,
        // No documented behaviour.
        server_id: None,
        // DSK-5, OLL-10: models of others think without signatures.
        reasoning: ReasoningDemands::NONE,
        // Nothing is known of them.
        limits: Limits::NONE,
        ..anthropic_messages::CONSTRAINTS
    },
};

const NOT_AFTER_ITS_CALL: ErrorText = ErrorText("tool call result does not follow tool call (2013)");
