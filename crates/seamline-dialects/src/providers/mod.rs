//! The providers of each dialect and their differences from it: data, no code.

mod anthropic;
mod anthropic_compatible;
mod azure;
mod azure_responses;
mod bedrock;
mod bedrock_anthropic;
mod bedrock_claude;
mod bedrock_mistral;
mod bedrock_nova;
mod cerebras;
mod codex;
mod cohere;
mod dashscope;
mod deepseek;
mod deepseek_anthropic;
mod deepseek_responses;
mod fireworks;
mod gemini;
mod gemini_chat;
mod groq;
mod llama_cpp;
mod lm_studio;
mod messages_compatible;
mod minimax;
mod minimax_anthropic;
mod mistral;
mod mistral_v13;
mod moonshot;
mod ollama;
mod openai;
mod openai_compatible;
mod openai_responses;
mod openrouter;
mod responses_compatible;
mod together;
mod vertex_anthropic;
mod vertex_gemini;
mod vertex_interactions;
mod vllm;
mod xai;
mod zai;

use crate::ALL as DIALECTS;
pub use crate::provider::{Pair, Provider, by_name, for_model};

/// The providers of this folder. The entries of a company are together, its usual one first or last; where two claim a
/// model in one dialect, the first counts.
const LISTED: &[&Provider] = &[
    &anthropic::PROVIDER,
    &anthropic_compatible::PROVIDER,
    &messages_compatible::PROVIDER,
    &openai::PROVIDER,
    &openai_responses::PROVIDER,
    &codex::PROVIDER,
    &openai_compatible::PROVIDER,
    &responses_compatible::PROVIDER,
    &azure::PROVIDER,
    &azure_responses::PROVIDER,
    &gemini::PROVIDER,
    &gemini_chat::PROVIDER,
    &vertex_gemini::PROVIDER,
    &vertex_interactions::PROVIDER,
    &vertex_anthropic::PROVIDER,
    &bedrock::PROVIDER,
    &bedrock_claude::PROVIDER,
    &bedrock_mistral::PROVIDER,
    &bedrock_nova::PROVIDER,
    &bedrock_anthropic::PROVIDER,
    &mistral_v13::PROVIDER,
    &mistral::PROVIDER,
    &groq::PROVIDER,
    &cerebras::PROVIDER,
    &fireworks::PROVIDER,
    &together::PROVIDER,
    &deepseek::PROVIDER,
    &deepseek_responses::PROVIDER,
    &deepseek_anthropic::PROVIDER,
    &xai::PROVIDER,
    &moonshot::PROVIDER,
    &dashscope::PROVIDER,
    &minimax::PROVIDER,
    &minimax_anthropic::PROVIDER,
    &zai::PROVIDER,
    &cohere::PROVIDER,
    &openrouter::PROVIDER,
    &ollama::PROVIDER,
    &vllm::PROVIDER,
    &llama_cpp::PROVIDER,
    &lm_studio::PROVIDER,
];

/// Every provider: those of this folder, then those that dialects define themselves.
pub const ALL: &[&Provider] = &all::<{ LISTED.len() + own_count() }>();

/// The number of providers that dialects define themselves.
const fn own_count() -> usize {
    let (mut count, mut at) = (0, 0);
    while at < DIALECTS.len() {
        count += DIALECTS[at].providers.len();
        at += 1;
    }
    count
}

const fn all<const COUNT: usize>() -> [&'static Provider; COUNT] {
    let mut all = [LISTED[0]; COUNT];
    let (listed, _) = all.split_at_mut(LISTED.len());
    listed.copy_from_slice(LISTED);
    let (mut count, mut dialect) = (LISTED.len(), 0);
    while dialect < DIALECTS.len() {
        let mut at = 0;
        while at < DIALECTS[dialect].providers.len() {
            all[count] = DIALECTS[dialect].providers[at];
            (count, at) = (count + 1, at + 1);
        }
        dialect += 1;
    }
    all
}

/// The provider for unknown models, if a dialect has no other fallback.
pub(crate) const TOLERANT: &Provider = &openai_compatible::PROVIDER;

/// The demands that all Messages servers share. Those of others do not demand what Anthropic does.
pub(crate) const MESSAGES: &Provider = &messages_compatible::PROVIDER;

/// The models that many servers of the Messages dialect offer.
pub(crate) const OPEN_MODELS: &[&str] = messages_compatible::OPEN_MODELS;
