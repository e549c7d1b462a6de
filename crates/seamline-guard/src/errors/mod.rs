//! What providers say, one file per family: data, no code.
//!
//! In each file the more specific stands before the less specific, and what must not be
//! taken for damage (filters, limits) before damage.

mod anthropic;
mod anywhere;
mod azure;
mod bedrock;
mod cerebras;
mod cohere;
mod dashscope;
mod deepseek;
mod fireworks;
mod gemini;
mod groq;
mod minimax;
mod mistral;
mod moonshot;
mod ollama;
mod openai_chat;
mod openai_responses;
mod openrouter;
mod vertex;
mod vllm;
mod volcengine;
mod xai;
mod zhipu;

use crate::known::Known;

/// Providers that answer in the same words.
#[derive(Debug)]
pub(crate) struct Family {
    /// Its name.
    pub(crate) name: &'static str,
    /// Other names under which people know its providers.
    pub(crate) aliases: &'static [&'static str],
    /// The dialects whose servers answer in these words when the provider is not known.
    pub(crate) dialects: &'static [&'static str],
    /// What they say.
    pub(crate) errors: &'static [Known],
}

impl Family {
    /// Whether a provider of this name belongs to it.
    pub(crate) fn includes(&self, provider: &str) -> bool {
        self.names().any(|name| name.eq_ignore_ascii_case(provider))
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// Every family. Where nothing else decides, the earlier one counts.
pub(crate) const FAMILIES: &[&Family] = &[
    &anthropic::FAMILY,
    &openai_chat::FAMILY,
    &openai_responses::FAMILY,
    &azure::FAMILY,
    &gemini::FAMILY,
    &vertex::FAMILY,
    &bedrock::FAMILY,
    &mistral::FAMILY,
    &groq::FAMILY,
    &cerebras::FAMILY,
    &fireworks::FAMILY,
    &deepseek::FAMILY,
    &xai::FAMILY,
    &moonshot::FAMILY,
    &minimax::FAMILY,
    &dashscope::FAMILY,
    &zhipu::FAMILY,
    &volcengine::FAMILY,
    &ollama::FAMILY,
    &vllm::FAMILY,
    &cohere::FAMILY,
    &openrouter::FAMILY,
    &anywhere::FAMILY,
];

/// The names of all providers whose errors are known, each once.
pub fn providers() -> Vec<&'static str> {
    let families = FAMILIES.iter().filter(|family| family.name != anywhere::FAMILY.name);
    let mut names = Vec::new();
    for name in families.flat_map(|family| family.names()) {
        // Some speak like one family of one thing and like another of the next.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether errors of a provider of this name are known.
pub fn is_provider(name: &str) -> bool {
    providers().iter().any(|known| known.eq_ignore_ascii_case(name))
}
