//! The dialects the test kit writes and judges.

/// A way of writing a conversation on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Anthropic's Messages API.
    AnthropicMessages,
    /// `OpenAI`'s Chat Completions API.
    OpenAiChat,
}

impl Dialect {
    /// Every dialect, in a fixed order.
    pub const ALL: [Self; 2] = [Self::AnthropicMessages, Self::OpenAiChat];

    /// The name users write, such as `anthropic_messages`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic_messages",
            Self::OpenAiChat => "openai_chat",
        }
    }
}
