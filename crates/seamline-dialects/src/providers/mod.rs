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
mod fireworks;
mod gemini;
mod groq;
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
mod vllm;
mod xai;
mod zai;

use seamline_model::Constraints;

use crate::ALL as DIALECTS;

/// A company or server that serves a dialect.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// The name, such as `groq`.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line that describes it.
    pub about: &'static str,
    /// The name of the dialect it serves.
    pub dialect: &'static str,
    /// The beginnings of its models' names, by which it is recognised.
    pub models: &'static [&'static str],
    /// Whether it is used for a model that no provider claims. It is the most tolerant provider of its dialect, so that
    /// no rule finds anything that some provider accepts.
    pub fallback: bool,
    /// The demands of the provider.
    pub constraints: Constraints,
}

/// The providers of this folder.
const LISTED: &[&Provider] = &[
    &anthropic::PROVIDER,
    &anthropic_compatible::PROVIDER,
    &vertex_anthropic::PROVIDER,
    &bedrock_anthropic::PROVIDER,
    &minimax_anthropic::PROVIDER,
    &openai::PROVIDER,
    &azure::PROVIDER,
    &openai_compatible::PROVIDER,
    &mistral_v13::PROVIDER,
    &mistral::PROVIDER,
    &groq::PROVIDER,
    &cerebras::PROVIDER,
    &fireworks::PROVIDER,
    &together::PROVIDER,
    &deepseek::PROVIDER,
    &xai::PROVIDER,
    &moonshot::PROVIDER,
    &dashscope::PROVIDER,
    &minimax::PROVIDER,
    &zai::PROVIDER,
    &cohere::PROVIDER,
    &ollama::PROVIDER,
    &vllm::PROVIDER,
    &openrouter::PROVIDER,
    &openai_responses::PROVIDER,
    &azure_responses::PROVIDER,
    &codex::PROVIDER,
    &responses_compatible::PROVIDER,
    &bedrock::PROVIDER,
    &bedrock_claude::PROVIDER,
    &bedrock_mistral::PROVIDER,
    &bedrock_nova::PROVIDER,
    &gemini::PROVIDER,
    &vertex_gemini::PROVIDER,
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

/// Finds the provider with this name or alias.
pub fn by_name(name: &str) -> Option<&'static Provider> {
    let is_alias = |provider: &&Provider| provider.aliases.contains(&name);
    ALL.iter().copied().find(|provider| provider.name == name).or_else(|| ALL.iter().copied().find(is_alias))
}

/// Finds the provider of a model in a dialect: the one that claims the model, or else the fallback.
pub fn for_model(dialect: &str, model: Option<&str>) -> &'static Provider {
    let serving = || ALL.iter().copied().filter(|provider| provider.dialect == dialect);
    let claims =
        |provider: &&Provider| model.is_some_and(|model| provider.models.iter().any(|start| model.starts_with(start)));
    let fallback = || serving().find(|provider| provider.fallback);
    serving().find(claims).or_else(fallback).unwrap_or(&openai_compatible::PROVIDER)
}
