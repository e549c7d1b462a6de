//! Who serves a dialect, and how each differs from it: data, no code.

mod anthropic;
mod anthropic_compatible;
mod openai;
mod openai_compatible;

use seamline_model::Constraints;

/// Somebody who serves a dialect.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// Its name, such as `groq`.
    pub name: &'static str,
    /// One line that says who it is.
    pub about: &'static str,
    /// The dialect it serves, by name.
    pub dialect: &'static str,
    /// Starts of the names of its models, by which it is recognised.
    pub models: &'static [&'static str],
    /// What it demands.
    pub constraints: Constraints,
}

/// Every provider; of those that serve a dialect the last one takes models nobody else
/// claims.
pub const ALL: &[&Provider] =
    &[&anthropic::PROVIDER, &anthropic_compatible::PROVIDER, &openai::PROVIDER, &openai_compatible::PROVIDER];

/// The provider with this name.
pub fn by_name(name: &str) -> Option<&'static Provider> {
    ALL.iter().copied().find(|provider| provider.name == name)
}

/// The provider of a model in a dialect: the one that claims the model, else the most
/// tolerant one, so that nothing is found that some provider would accept.
pub fn for_model(dialect: &str, model: Option<&str>) -> &'static Provider {
    let serving = || ALL.iter().copied().filter(|provider| provider.dialect == dialect);
    let claims =
        |provider: &&Provider| model.is_none_or(|model| provider.models.iter().any(|start| model.starts_with(start)));
    serving().find(claims).or_else(|| serving().next_back()).unwrap_or(&openai_compatible::PROVIDER)
}
