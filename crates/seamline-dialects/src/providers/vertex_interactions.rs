//! The Interactions API on Google Cloud.

use super::Provider;
use crate::gemini_interactions;

/// Interactions through Vertex AI. No recorded request tells it from the Gemini API.
pub(super) const PROVIDER: Provider = Provider {
    name: "vertex-interactions",
    company: "vertex",
    aliases: &[],
    about: "Google's Interactions API on Vertex AI",
    dialect: gemini_interactions::NAME,
    models: &["publishers/google/models/gemini", "projects/"],
    fallback: false,
    constraints: gemini_interactions::CONSTRAINTS,
};
