//! A conversation independent of the dialect, which can hold every error that the tests need.

use serde_json::Value;

/// The messages of one conversation, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The system text before the first message.
    pub system: Option<String>,
    /// The messages in order.
    pub messages: Vec<Message>,
}

impl Transcript {
    /// The content that a repair must keep: text, tool output and media.
    pub fn payloads(&self) -> Vec<String> {
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        let said = blocks.filter_map(Block::payload).chain(self.system.as_deref());
        said.filter(|payload| !payload.trim().is_empty()).map(str::to_owned).collect()
    }
}

/// The contribution of one role. Results are in user messages; dialects with a role for results split them off.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The role of the message.
    pub role: Role,
    /// The content of the message.
    pub blocks: Vec<Block>,
    /// How a single text is written.
    pub shape: Shape,
    /// Whether an empty list of calls is written.
    pub call_list: CallList,
}

impl Message {
    /// A message whose single text is written as a string.
    pub fn new(role: Role, blocks: Vec<Block>) -> Self {
        Self { role, blocks, shape: Shape::Text, call_list: CallList::WhenNeeded }
    }

    /// A message with one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Block::Text(text.into())])
    }

    /// A user message that holds one result.
    pub fn result(result: CallResult) -> Self {
        Self::new(Role::User, vec![Block::Result(result)])
    }

    /// The calls of the message.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| if let Block::Call(call) = block { Some(call) } else { None })
    }

    /// The results of the message.
    pub fn results(&self) -> impl Iterator<Item = &CallResult> {
        self.blocks.iter().filter_map(|block| if let Block::Result(result) = block { Some(result) } else { None })
    }
}

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The program that set up the conversation.
    System,
    /// The user, or a program for the user.
    User,
    /// The language model.
    Assistant,
}

/// How a single text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As a string.
    Text,
    /// As an array of blocks.
    Blocks,
}

/// Whether a list of calls is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallList {
    /// Only when there are calls.
    WhenNeeded,
    /// Also when there are none, in the dialects that have a list.
    Always,
}

/// One unit inside a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A plain text.
    Text(String),
    /// An image, as base64.
    Image(String),
    /// Reasoning with its signature; written only where the dialect has it.
    Thinking {
        /// The text of the reasoning.
        text: String,
        /// The provider's signature of it.
        signature: String,
    },
    /// The model asks for a tool to be run.
    Call(Call),
    /// The result of a call.
    Result(CallResult),
    /// A server-side call, by id; written only where the dialect has it.
    ServerCall(String),
    /// The result of a server-side call, by the call's id; written only where the dialect has it.
    ServerResult(String),
    /// A cache mark; written only where it is a block of its own.
    CachePoint,
}

impl Block {
    /// The content that a repair must keep, if there is any.
    fn payload(&self) -> Option<&str> {
        match self {
            Self::Text(payload) | Self::Image(payload) => Some(payload),
            Self::Result(result) => Some(&result.output),
            Self::Thinking { .. } | Self::Call(_) | Self::ServerCall(_) | Self::ServerResult(_) | Self::CachePoint => {
                None
            }
        }
    }
}

/// The model asks for a tool to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The id that the result refers to.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The input of the tool.
    pub input: Input,
}

/// The input of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An object, written as the dialect demands.
    Object(Value),
    /// Any value, written unchanged even if the dialect demands another type.
    Verbatim(Value),
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// The id of the call.
    pub id: Option<String>,
    /// The name of the tool, for dialects whose results repeat it; `None` means the name of the call.
    pub name: Option<String>,
    /// The output of the tool.
    pub output: String,
    /// How the output is written.
    pub shape: Shape,
    /// How the tool ended.
    pub ending: Ending,
}

impl CallResult {
    /// A result of a successful tool, written as a string.
    pub fn new(id: impl Into<String>, output: impl Into<String>) -> Self {
        Self { id: Some(id.into()), name: None, output: output.into(), shape: Shape::Text, ending: Ending::Done }
    }
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The tool succeeded.
    Done,
    /// The tool failed.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::{Block, CallResult, Message, Role, Transcript};

    #[test]
    fn payloads_are_text_output_and_media_and_nothing_blank() {
        let transcript = Transcript {
            system: Some("be kind".into()),
            messages: vec![
                Message::new(Role::User, vec![Block::Text("hi".into()), Block::Image("aW1n".into())]),
                Message::text(Role::Assistant, " "),
                Message::new(Role::Assistant, vec![Block::ServerResult("S".into())]),
                Message::result(CallResult::new("A", "out")),
            ],
        };
        assert_eq!(transcript.payloads(), ["hi", "aW1n", "out", "be kind"]);
    }
}
