//! Who serves a dialect, and how each differs from it: data, no code.

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

/// Somebody who serves a dialect.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// Its name, such as `groq`.
    pub name: &'static str,
    /// Other names people call it by.
    pub aliases: &'static [&'static str],
    /// One line that says who it is.
    pub about: &'static str,
    /// The dialect it serves, by name.
    pub dialect: &'static str,
    /// Starts of the names of its models, by which it is recognised.
    pub models: &'static [&'static str],
    /// Whether it is taken for a model nobody claims: the most tolerant of its dialect, so
    /// that nothing is found that some provider would accept.
    pub fallback: bool,
    /// What it demands.
    pub constraints: Constraints,
}

/// Every provider.
pub const ALL: &[&Provider] = &[
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

/// The provider with this name, or with this other name.
pub fn by_name(name: &str) -> Option<&'static Provider> {
    let is_alias = |provider: &&Provider| provider.aliases.contains(&name);
    ALL.iter().copied().find(|provider| provider.name == name).or_else(|| ALL.iter().copied().find(is_alias))
}

/// The provider of a model in a dialect: the one that claims the model, else the fallback.
pub fn for_model(dialect: &str, model: Option<&str>) -> &'static Provider {
    let serving = || ALL.iter().copied().filter(|provider| provider.dialect == dialect);
    let claims =
        |provider: &&Provider| model.is_some_and(|model| provider.models.iter().any(|start| model.starts_with(start)));
    let fallback = || serving().find(|provider| provider.fallback);
    serving().find(claims).or_else(fallback).unwrap_or(&openai_compatible::PROVIDER)
}
