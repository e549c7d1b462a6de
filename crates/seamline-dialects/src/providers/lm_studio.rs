//! LM Studio.

use super::Provider;
use crate::openai_chat;

/// The server of LM Studio.
pub(super) const PROVIDER: Provider = Provider {
    name: "lm-studio",
    company: "lm-studio",
    aliases: &["lmstudio"],
    about: "LM Studio's server: the template of the model may demand more",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    // A request does not show the demands of the template of its model.
    constraints: openai_chat::COMPATIBLE,
};
