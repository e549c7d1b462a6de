//! The roles of messages.

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions to the model.
    System,
    /// Instructions, under the newer name that some models use.
    Developer,
    /// The person or program that sends requests.
    User,
    /// The language model.
    Assistant,
    /// Holds results, in dialects where they are separate messages.
    Tool,
    /// Holds a result in the retired function-calling form.
    Function,
    /// An unknown role.
    Unknown,
}

impl Role {
    /// Its name in the dialects that have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Function => "function",
            Self::Unknown => "unknown",
        }
    }
}
