//! llama.cpp.

use super::Provider;
use crate::openai_chat;

/// The server of llama.cpp.
pub(super) const PROVIDER: Provider = Provider {
    name: "llama-cpp",
    company: "llama-cpp",
    aliases: &["llama.cpp", "llamacpp", "llama-server"],
    about: "llama.cpp's server: the template of the model may demand more",
    dialect: openai_chat::NAME,
    models: &[],
    fallback: false,
    // A request does not show the demands of the template of its model.
    constraints: openai_chat::COMPATIBLE,
};
