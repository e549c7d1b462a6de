//! The provider that defines the dialect.

use super::{CONSTRAINTS, NAME};
use crate::Provider;

/// Google's Interactions API. No recorded request tells Vertex AI from the Gemini API.
pub(super) const PROVIDER: Provider = Provider {
    name: "gemini-interactions",
    company: "gemini",
    aliases: &["vertex-interactions", "google-interactions"],
    about: "Google's Interactions API, also on Vertex AI",
    dialect: NAME,
    models: &["gemini", "models/gemini", "deep-research", "antigravity"],
    fallback: true,
    constraints: CONSTRAINTS,
};
