//! The dialects the test kit writes and judges.

/// A way of writing a conversation on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Anthropic's Messages API.
    AnthropicMessages,
    /// `OpenAI`'s Chat Completions API.
    OpenAiChat,
    /// `OpenAI`'s Responses API.
    OpenAiResponses,
}

impl Dialect {
    /// Every dialect, in a fixed order.
    pub const ALL: [Self; 3] = [Self::AnthropicMessages, Self::OpenAiChat, Self::OpenAiResponses];

    /// The name users write, such as `anthropic_messages`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic_messages",
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
        }
    }

    /// The member of a body that is the list of messages.
    pub fn list(self) -> &'static str {
        match self {
            Self::AnthropicMessages | Self::OpenAiChat => "messages",
            Self::OpenAiResponses => "input",
        }
    }
}
