//! Google's Gemini API.

use super::Provider;
use crate::gemini_generate;

/// The Gemini API of Google AI Studio.
pub(super) const PROVIDER: Provider = Provider {
    name: "gemini",
    company: "gemini",
    aliases: &["google"],
    about: "Google's Gemini API",
    dialect: gemini_generate::NAME,
    models: &["gemini", "models/gemini"],
    fallback: true,
    constraints: gemini_generate::CONSTRAINTS,
};
