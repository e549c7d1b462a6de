//! A conversation with the dialect taken out, loose enough to be broken in every way the tests need.

use serde_json::Value;

/// The messages of one conversation, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// What stands before the first message.
    pub system: Option<String>,
    /// The messages.
    pub messages: Vec<Message>,
}

impl Transcript {
    /// Everything that somebody said and that must be in the body after a repair: text, tool output and media.
    pub fn payloads(&self) -> Vec<String> {
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        let said = blocks.filter_map(Block::payload).chain(self.system.as_deref());
        said.filter(|payload| !payload.trim().is_empty()).map(str::to_owned).collect()
    }
}

/// One role's contribution. Results stand in the user's messages; dialects that have a role for them split them off.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub blocks: Vec<Block>,
    /// How lone text is written.
    pub shape: Shape,
    /// Whether a list of calls is written although there are no calls.
    pub call_list: CallList,
}

impl Message {
    /// A message with its text, if that is all it has, written as a string.
    pub fn new(role: Role, blocks: Vec<Block>) -> Self {
        Self { role, blocks, shape: Shape::Text, call_list: CallList::WhenNeeded }
    }

    /// A message that says one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Block::Text(text.into())])
    }

    /// A user message that holds one result.
    pub fn result(result: CallResult) -> Self {
        Self::new(Role::User, vec![Block::Result(result)])
    }

    /// The calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| if let Block::Call(call) = block { Some(call) } else { None })
    }

    /// The results in it.
    pub fn results(&self) -> impl Iterator<Item = &CallResult> {
        self.blocks.iter().filter_map(|block| if let Block::Result(result) = block { Some(result) } else { None })
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Whoever set the conversation up.
    System,
    /// The person, or the program on their behalf.
    User,
    /// The model.
    Assistant,
}

/// How lone text is written.
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
    /// Words.
    Text(String),
    /// A picture, as base64.
    Image(String),
    /// Reasoning with its signature; written only where the dialect has it.
    Thinking {
        /// The reasoning.
        text: String,
        /// What makes it genuine.
        signature: String,
    },
    /// The model asks for a tool to be run.
    Call(Call),
    /// The answer to a call.
    Result(CallResult),
    /// A call the server runs itself, by id; written only where the dialect has it.
    ServerCall(String),
    /// The answer to a server call, by the call's id; written only where the dialect has it.
    ServerResult(String),
}

impl Block {
    /// What a repair must not lose, if anything.
    fn payload(&self) -> Option<&str> {
        match self {
            Self::Text(payload) | Self::Image(payload) => Some(payload),
            Self::Result(result) => Some(&result.output),
            Self::Thinking { .. } | Self::Call(_) | Self::ServerCall(_) | Self::ServerResult(_) => None,
        }
    }
}

/// The model asks for a tool to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the result will refer to.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// What the tool is given.
    pub input: Input,
}

/// What a tool is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An object, written as the dialect demands.
    Object(Value),
    /// Any value, written as it is where the dialect demands something else.
    Verbatim(Value),
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// The id of the call.
    pub id: Option<String>,
    /// The name of the tool; written where results repeat it. Without one, the name that the call before it has.
    pub name: Option<String>,
    /// What the tool gave.
    pub output: String,
    /// How the output is written.
    pub shape: Shape,
    /// How the tool ended.
    pub ending: Ending,
}

impl CallResult {
    /// A result of a tool that ended well, written as a string.
    pub fn new(id: impl Into<String>, output: impl Into<String>) -> Self {
        Self { id: Some(id.into()), name: None, output: output.into(), shape: Shape::Text, ending: Ending::Done }
    }
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Well.
    Done,
    /// With an error.
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
