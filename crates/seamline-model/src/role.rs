//! Who speaks.

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions.
    System,
    /// Instructions, in the newer name of some models.
    Developer,
    /// The person or program that asks.
    User,
    /// The model.
    Assistant,
    /// Carries results, in dialects where they are messages of their own.
    Tool,
    /// Carries a result in the retired function-calling form.
    Function,
    /// A role we do not know.
    Unknown,
}

impl Role {
    /// The word for it, which is that of the dialects that have it.
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
