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

/// The tools that a request declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// What to cut so that the list is gone and the body stays well-formed.
    pub cut: Span,
    /// The tools, in order.
    pub tools: Vec<DeclaredTool>,
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

impl Request {
    /// The same where everything after `end` moved by `by` bytes.
    #[must_use]
    pub fn moved(&self, end: u32, by: u32) -> Self {
        let place = |span: Span| if span.start >= end { span.moved(by) } else { span };
        let tool = |tool: &DeclaredTool| DeclaredTool {
            name: tool.name.clone(),
            cache_mark: tool.cache_mark,
            span: place(tool.span),
            cut: place(tool.cut),
        };
        let tools = self
            .tools
            .as_ref()
            .map(|tools| Declared { cut: place(tools.cut), tools: tools.tools.iter().map(tool).collect() });
        let thinking = match self.thinking {
            Thinking::On(span) => Thinking::On(place(span)),
            other => other,
        };
        Self { tools, thinking, forced_tool: self.forced_tool.clone(), cache_marks: self.cache_marks }
    }
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
    /// The same in another message, with its blocks and bytes moved.
    #[must_use]
    pub fn moved(&self, message: MessageIndex, blocks: u32, bytes: u32) -> Self {
        Self {
            message,
            block: self.block.map(|block| BlockIndex(block.0.wrapping_add(blocks))),
            key_span: self.key_span.moved(bytes),
            span: self.span.moved(bytes),
            cut: self.cut.moved(bytes),
            ..self.clone()
        }
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
