//! The paths of providers, behind any prefix.

use crate::Dialect;

use super::http::Head;

/// The operation that a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A response of the model.
    Answer { dialect: Dialect, framing: Framing },
    /// The number of tokens of a request.
    Count { dialect: Dialect },
    /// Anything else, such as a list of models.
    Other,
}

/// The form of a streamed response. The body of a request decides whether it is used where the path does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Framing {
    /// One JSON value, or an event stream if the body has `"stream": true`.
    ByBody,
    /// One JSON value.
    Whole,
    /// An event stream.
    Events,
    /// One JSON array.
    Array,
    /// An AWS event stream.
    Messages,
}

impl Route {
    /// Reads the operation from the path and query of a request.
    pub(super) fn of(head: &Head) -> Self {
        let path = head.path();
        let query = head.target.split_once('?').map_or("", |(_, query)| query);
        let has_events = query.split('&').any(|pair| pair == "alt=sse");
        let answer = |dialect, framing| Self::Answer { dialect, framing };
        let end = |end: &str| path.ends_with(end);
        match path {
            _ if head.method != "POST" => Self::Other,
            _ if end("/messages/count_tokens") => Self::Count { dialect: Dialect::AnthropicMessages },
            _ if end(":countTokens") => Self::Count { dialect: Dialect::GeminiGenerate },
            _ if end("/responses/input_tokens") => Self::Count { dialect: Dialect::OpenAiResponses },
            _ if end("/messages") => answer(Dialect::AnthropicMessages, Framing::ByBody),
            _ if end("/chat/completions") => answer(Dialect::OpenAiChat, Framing::ByBody),
            _ if end("/responses") => answer(Dialect::OpenAiResponses, Framing::ByBody),
            _ if end("/interactions") => answer(Dialect::GeminiInteractions, Framing::ByBody),
            _ if end(":generateContent") => answer(Dialect::GeminiGenerate, Framing::Whole),
            _ if end(":streamGenerateContent") && has_events => answer(Dialect::GeminiGenerate, Framing::Events),
            _ if end(":streamGenerateContent") => answer(Dialect::GeminiGenerate, Framing::Array),
            _ if end("/invoke") && path.contains("anthropic.claude") => {
                answer(Dialect::AnthropicMessages, Framing::Whole)
            }
            _ if end("/converse") => answer(Dialect::BedrockConverse, Framing::Whole),
            _ if end("/converse-stream") => answer(Dialect::BedrockConverse, Framing::Messages),
            _ => Self::Other,
        }
    }

    /// The dialect of the requests to the path.
    pub(super) fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Answer { dialect, .. } | Self::Count { dialect } => Some(dialect),
            Self::Other => None,
        }
    }
}
