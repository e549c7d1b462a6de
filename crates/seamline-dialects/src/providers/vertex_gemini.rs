//! Gemini on Google Cloud.

use super::Provider;
use crate::gemini_generate;

/// Gemini through Vertex AI. No recorded request tells it from the Gemini API.
pub(super) const PROVIDER: Provider = Provider {
    name: "vertex-gemini",
    company: "vertex",
    aliases: &[],
    about: "Gemini on Google's Vertex AI",
    dialect: gemini_generate::NAME,
    models: &["publishers/google/models/gemini", "projects/"],
    fallback: false,
    constraints: gemini_generate::CONSTRAINTS,
};
