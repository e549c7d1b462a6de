//! The provider that defines the dialect.

use super::{CONSTRAINTS, NAME};
use crate::Provider;

/// Google's Interactions API.
pub(super) const PROVIDER: Provider = Provider {
    name: "gemini-interactions",
    company: "gemini",
    aliases: &["google-interactions"],
    about: "Google's Interactions API",
    dialect: NAME,
    models: &["gemini", "models/gemini", "deep-research", "antigravity"],
    fallback: true,
    constraints: CONSTRAINTS,
};
