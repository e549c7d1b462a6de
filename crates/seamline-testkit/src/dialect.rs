//! The dialects that the test kit writes and checks.

/// A way of writing a conversation on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Anthropic's Messages API.
    AnthropicMessages,
    /// `OpenAI`'s Chat Completions API.
    OpenAiChat,
    /// `OpenAI`'s Responses API.
    OpenAiResponses,
    /// AWS Bedrock's Converse API.
    BedrockConverse,
    /// Google's generateContent.
    GeminiGenerate,
}

impl Dialect {
    /// Every dialect, in a fixed order.
    pub const ALL: [Self; 5] =
        [Self::AnthropicMessages, Self::OpenAiChat, Self::OpenAiResponses, Self::BedrockConverse, Self::GeminiGenerate];

    /// The name users write, such as `anthropic_messages`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic_messages",
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
            Self::BedrockConverse => "bedrock_converse",
            Self::GeminiGenerate => "gemini_generate",
        }
    }

    /// The member of a body that is the list of messages.
    pub fn list_key(self) -> &'static str {
        match self {
            Self::AnthropicMessages | Self::OpenAiChat | Self::BedrockConverse => "messages",
            Self::OpenAiResponses => "input",
            Self::GeminiGenerate => "contents",
        }
    }

    /// The member of a message that is its content.
    pub fn content_key(self) -> &'static str {
        if self == Self::GeminiGenerate { "parts" } else { "content" }
    }

    /// The role of the model.
    pub fn assistant_role(self) -> &'static str {
        if self == Self::GeminiGenerate { "model" } else { "assistant" }
    }
}
