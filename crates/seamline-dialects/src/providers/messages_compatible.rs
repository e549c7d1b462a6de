//! Servers that speak the Messages dialect, taken at their most tolerant.

use seamline_model::{
    Alphabet, Constraints, ErrorText, FirstRole, IdDemand, Limits, Members, PairDemands, ReasoningDemands, SameRole,
};

use super::Provider;
use crate::anthropic_messages;

/// A server that speaks Messages, without known demands of its own.
pub(super) const PROVIDER: Provider = Provider {
    name: "messages-compatible",
    company: "messages-compatible",
    aliases: &[],
    about: "servers that speak Messages: only what all of them demand",
    dialect: anthropic_messages::NAME,
    models: &[],
    fallback: false,
    constraints: CONSTRAINTS,
};

/// The beginnings of the names of models whose weights are open, in lower case. Many servers offer them, so no company
/// owns the names in this dialect.
pub(super) const OPEN_MODELS: &[&str] =
    &["llama", "gemma", "phi", "mixtral", "mistral", "qwen", "qwq", "deepseek", "kimi", "glm", "minimax", "gpt-oss"];

/// The demands that all servers of the dialect share.
pub(super) const CONSTRAINTS: Constraints = Constraints {
    // ANT-12 was seen with older endpoints only.
    same_role: SameRole::Accepted,
    // ANT-12 was seen with older endpoints only.
    first_role: FirstRole::Any,
    // ANT-20 is Anthropic's pattern. Kimi's own ids (`functions.bash:0`) do not match it and must come back unchanged.
    call_id: CALL_ID,
    // OLL-10: blocks that are not known are ignored; nothing is known of the others.
    members: Members::Open,
    // No documented behaviour.
    system_place: None,
    // No documented behaviour.
    trailing_space: None,
    // No documented behaviour.
    server_id: None,
    // ANT-36 to ANT-38 are about tools that Anthropic runs.
    pairs: PairDemands::NONE,
    // ANT-40 is about summaries that Anthropic signs.
    compaction: None,
    // DSK-5, OLL-10: their models think without signatures.
    reasoning: ReasoningDemands::NONE,
    // Nothing is known of them.
    limits: Limits::NONE,
    ..anthropic_messages::CONSTRAINTS
};

/// Any id that is not empty. Ids that a repair makes have Anthropic's form.
pub(super) const CALL_ID: IdDemand =
    IdDemand { alphabet: Alphabet::Any, alphabet_error: ErrorText(""), ..anthropic_messages::CONSTRAINTS.call_id };
