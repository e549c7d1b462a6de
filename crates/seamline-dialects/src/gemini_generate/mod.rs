//! `gemini_generate`: Google's generateContent.

pub(crate) mod lift;
pub(crate) mod render;

/// Its name.
pub(crate) const NAME: &str = "gemini_generate";
