//! What a request says beside its messages, as far as it bears on them.

use crate::{BlockIndex, MessageIndex, Span};

/// What a request says beside its messages, as far as it bears on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The tools it declares.
    pub tools: Option<Declared>,
    /// The tool that it forces the model to call.
    pub forced_tool: Option<Box<str>>,
    /// Whether the model is to think before it answers.
    pub thinking: Thinking,
    /// How many cache marks stand outside the messages.
    pub cache_marks: u32,
}

impl Request {
    /// The same request without the places where it says things: two requests that say the same are equal.
    #[must_use]
    pub fn without_places(&self) -> Self {
        let nowhere = Span::default();
        let tool = |tool: &DeclaredTool| DeclaredTool { span: nowhere, cut: nowhere, ..tool.clone() };
        let declared = |declared: &Declared| Declared {
            cut: nowhere,
            tools: declared.tools.iter().map(tool).collect(),
            is_hollow: declared.is_hollow,
        };
        let thinking = match self.thinking {
            Thinking::On(_) => Thinking::On(nowhere),
            thinking @ (Thinking::Unsaid | Thinking::Adaptive | Thinking::Off) => thinking,
        };
        Self {
            tools: self.tools.as_ref().map(declared),
            forced_tool: self.forced_tool.clone(),
            thinking,
            cache_marks: self.cache_marks,
        }
    }
}

/// The tools that a request declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// What to cut so that the list is gone and the body stays well-formed.
    pub cut: Span,
    /// The tools, in order.
    pub tools: Vec<DeclaredTool>,
    /// Whether nothing at all stands there.
    pub is_hollow: bool,
}

/// One tool that a request declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTool {
    /// Its name; tools that the provider runs itself may have none.
    pub name: Option<Box<str>>,
    /// Whether it is no tool, but a mark up to which the list is cached.
    pub cache_mark: bool,
    /// Where it stands in the source.
    pub span: Span,
    /// What to cut so that it is gone and the list stays well-formed.
    pub cut: Span,
}

/// Whether a request asks the model to think before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// It does not say.
    #[default]
    Unsaid,
    /// It does; the span is what says so.
    On(Span),
    /// It leaves it to the model.
    Adaptive,
    /// It asks it not to.
    Off,
}

/// What a list of messages holds at first sight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Entries {
    /// Nothing that looks like a message.
    #[default]
    Others,
    /// Entries of a log, with messages inside them.
    Log,
    /// Messages, among others perhaps.
    Messages,
}

/// A member of a message or block that the dialect itself does not have, or that some
/// providers count or refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The message it is in.
    pub message: MessageIndex,
    /// The block it is in, if it is not the message's own.
    pub block: Option<BlockIndex>,
    /// What sort of member it is.
    pub sort: MemberSort,
    /// Its key.
    pub key: Box<str>,
    /// What the thing it is in is called in error texts.
    pub owner: &'static str,
    /// Where the key stands.
    pub key_span: Span,
    /// Where the key and its value stand.
    pub span: Span,
    /// What to cut so that it is gone and the object stays well-formed.
    pub cut: Span,
}

impl Member {
    /// The same with its message and its blocks moved by so many places.
    #[must_use]
    pub fn moved(&self, messages: u32, blocks: u32) -> Self {
        let message = MessageIndex(self.message.0.wrapping_add(messages));
        let block = self.block.map(|block| BlockIndex(block.0.wrapping_add(blocks)));
        Self { message, block, ..self.clone() }
    }
}

/// Members of a message that say how it was made, not what was said. Answers and logs have
/// them.
const ABOUT_ANSWERS: &[&str] = &[
    "cache_control",
    "id",
    "object",
    "index",
    "model",
    "provider",
    "created",
    "created_at",
    "createdAt",
    "updated_at",
    "updatedAt",
    "timestamp",
    "ts",
    "uuid",
    "parentUuid",
    "parent_id",
    "parentId",
    "session_id",
    "sessionId",
    "request_id",
    "requestId",
    "message_id",
    "messageId",
    "stop_reason",
    "stopReason",
    "stop_sequence",
    "finish_reason",
    "finishReason",
    "native_finish_reason",
    "usage",
    "usageMetadata",
    "logprobs",
    "cost",
    "duration_ms",
    "latency_ms",
    "status",
    "type",
    "cache_control",
];

impl Member {
    /// Whether something anyone said may go with it: it holds something, and is not known to
    /// be about how a message was made.
    pub fn says_something(&self) -> bool {
        match self.sort {
            MemberSort::Foreign { empty } => !empty && !ABOUT_ANSWERS.contains(&&*self.key),
            MemberSort::Spare { empty } => !empty && &*self.key == "refusal",
            _ => false,
        }
    }

    /// Whether it is the message's own, and something anyone said may go with it.
    pub fn speaks_for_message(&self) -> bool {
        self.block.is_none() && self.says_something()
    }

    /// Whether it holds something to look at or listen to, which is worth nothing as text.
    pub fn holds_media(&self) -> bool {
        matches!(&*self.key, "images" | "image" | "videos" | "video" | "files" | "attachments")
    }
}

/// What sort of member it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberSort {
    /// The dialect does not have it.
    Foreign {
        /// Whether nothing is in it.
        empty: bool,
    },
    /// The dialect has it, and some of its providers do not.
    Spare {
        /// Whether nothing is in it.
        empty: bool,
    },
    /// It holds the model's reasoning.
    Reasoning {
        /// Whether nothing is in it.
        empty: bool,
    },
    /// It asks to have a prompt cached up to here.
    CacheMark,
    /// It is `true` and says that the message is to be continued.
    Continued,
    /// It holds the signature of reasoning.
    Signature,
}
