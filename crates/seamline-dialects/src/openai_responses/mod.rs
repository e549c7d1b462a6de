//! `openai_responses`: the Responses API of `OpenAI`.

pub(crate) mod lift;
pub(crate) mod render;

/// Its name.
pub(crate) const NAME: &str = "openai_responses";
