//! DeepSeek, in the Responses dialect.

use seamline_model::{Constraints, ErrorText, PairDemands};

use super::{Provider, responses_compatible};
use crate::openai_responses;

/// DeepSeek's Responses endpoint.
pub(super) const PROVIDER: Provider = Provider {
    name: "deepseek-responses",
    company: "deepseek",
    aliases: &[],
    about: "DeepSeek's Responses API: nothing comes between tool calls and their results",
    dialect: openai_responses::NAME,
    models: &["deepseek-"],
    fallback: false,
    constraints: Constraints {
        // OAR-27, recorded: the text for a call without a result where it is expected.
        unanswered: NO_OUTPUT,
        // OAR-27, recorded: other items between, reasoning too (awesome-deepseek-integration#740, DeepSeek-V3#1588).
        // OAR-26: results without the id of a call are refused, too (cc-switch#7400).
        pairs: PairDemands { adjacent: Some(NO_OUTPUT), unaddressed: false, ..responses_compatible::CONSTRAINTS.pairs },
        ..responses_compatible::CONSTRAINTS
    },
};

const NO_OUTPUT: ErrorText = ErrorText("No tool output found for tool call {id}.");
