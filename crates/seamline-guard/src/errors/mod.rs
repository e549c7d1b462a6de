//! The error texts of providers: data, one file per family.
//!
//! In each file specific texts come before general ones, and filters and limits come before damage.

mod anthropic;
mod anywhere;
mod azure;
mod bedrock;
mod cerebras;
mod clients;
mod cohere;
mod dashscope;
mod deepseek;
mod fireworks;
mod gemini;
mod groq;
mod llama_cpp;
mod minimax;
mod mistral;
mod moonshot;
mod ollama;
mod openai_chat;
mod openai_responses;
mod openrouter;
mod shapes;
mod vertex;
mod vllm;
mod volcengine;
mod xai;
mod zhipu;

use crate::kinds::Kind;
use crate::known::Known;

/// A family of providers with the same error texts.
#[derive(Debug)]
pub(crate) struct Family {
    /// The name of the family.
    pub(crate) name: &'static str,
    /// Other names of its providers.
    pub(crate) aliases: &'static [&'static str],
    /// The dialects whose unknown providers use these texts.
    pub(crate) dialects: &'static [&'static str],
    /// Statuses that mean something else here than elsewhere.
    pub(crate) statuses: &'static [(u16, &'static Kind)],
    /// The error texts of the family.
    pub(crate) errors: &'static [Known],
}

impl Family {
    /// A family without texts.
    const NONE: Self = Self { name: "", aliases: &[], dialects: &[], statuses: &[], errors: &[] };

    /// Whether a provider belongs to the family.
    pub(crate) fn includes(&self, provider: &str) -> bool {
        self.names().any(|name| name.eq_ignore_ascii_case(provider))
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// All families. If nothing else decides, the earlier one counts.
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
    &llama_cpp::FAMILY,
    &cohere::FAMILY,
    &openrouter::FAMILY,
    &clients::FAMILY,
    &anywhere::FAMILY,
    &shapes::FAMILY,
];

/// Returns the names of all providers with known errors, each once.
pub fn providers() -> Vec<&'static str> {
    let families = FAMILIES.iter().filter(|family| family.name != anywhere::FAMILY.name);
    let mut names = Vec::new();
    for name in families.flat_map(|family| family.names()) {
        // Some providers belong to several families.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a provider has known errors.
pub fn is_provider(name: &str) -> bool {
    providers().iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a family knows the errors of a dialect. The errors of other dialects, and of their providers, are classified
/// by the texts of all families and by their status.
pub fn is_dialect(name: &str) -> bool {
    FAMILIES.iter().any(|family| family.dialects.contains(&name))
}
