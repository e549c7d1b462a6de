//! Facts in the request outside its messages that affect them.

use crate::{BlockIndex, MessageIndex, Span};

/// Facts in the request outside its messages that affect them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The tools it declares.
    pub tools: Option<Declared>,
    /// The tool that the model must call.
    pub forced_tool: Option<Box<str>>,
    /// Whether the model should think before it responds.
    pub thinking: Thinking,
    /// The number of cache marks outside the messages.
    pub cache_marks: u32,
    /// Whether it names the container in which server tools run.
    pub container: bool,
}

impl RequestFacts {
    /// The same request without source positions: two requests with the same content are equal.
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
            container: self.container,
        }
    }
}

/// The tools that a request declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The bytes to cut so that the list is gone and the body stays well-formed.
    pub cut: Span,
    /// The tools, in order.
    pub tools: Vec<DeclaredTool>,
    /// Whether the list is completely empty.
    pub is_hollow: bool,
}

/// One tool that a request declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTool {
    /// Its name; tools that the provider runs itself may have none.
    pub name: Option<Box<str>>,
    /// Whether it is a cache mark instead of a tool.
    pub cache_mark: bool,
    /// Its bytes in the source.
    pub span: Span,
    /// The bytes to cut so that it is gone and the list stays well-formed.
    pub cut: Span,
}

/// Whether a request asks the model to think before it responds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// The request does not say.
    #[default]
    Unsaid,
    /// The request switches thinking on; the span is the setting.
    On(Span),
    /// The request leaves it to the model.
    Adaptive,
    /// The request switches thinking off.
    Off,
}

/// The form of the elements of a message list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Entries {
    /// No element looks like a message.
    #[default]
    Others,
    /// Log entries with messages inside them.
    Log,
    /// Messages, possibly among other elements.
    Messages,
}

/// A member of a message or block that the dialect does not define, or that some providers count or reject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The message it is in.
    pub message: MessageIndex,
    /// The block it is in; `None` if it belongs to the message itself.
    pub block: Option<BlockIndex>,
    /// The sort of member.
    pub sort: MemberSort,
    /// The content of the member, by its name.
    pub kind: MemberKind,
    /// The member's key.
    pub key: Box<str>,
    /// The name of its owner in error texts.
    pub owner: &'static str,
    /// The bytes of the key.
    pub key_span: Span,
    /// The bytes of the key and its value.
    pub span: Span,
    /// The bytes to cut so that it is gone and the object stays well-formed.
    pub cut: Span,
}

/// A member that the provider has rejected by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedMember {
    /// Its key as written.
    pub key: Box<str>,
    /// Its bytes, key and value.
    pub span: Span,
    /// The bytes to cut so that the object stays well-formed.
    pub cut: Span,
    /// The message it is in; none beside the messages.
    pub message: Option<MessageIndex>,
}

impl Member {
    /// A copy with its message and block indexes moved; differences below zero wrap.
    #[must_use]
    pub fn moved(&self, messages: u32, blocks: u32) -> Self {
        let message = MessageIndex(self.message.0.wrapping_add(messages));
        let block = self.block.map(|block| BlockIndex(block.0.wrapping_add(blocks)));
        Self { message, block, ..self.clone() }
    }
}

/// Members of a message that hold metadata instead of content. Responses and logs have them.
const ABOUT_RESPONSES: &[&str] = &[
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

/// Members that frameworks and programs keep beside a message for themselves. The model never saw them.
const OF_PROGRAMS: &[&str] = &[
    "additional_kwargs",
    "annotations",
    "cwd",
    "gitBranch",
    "isMeta",
    "isSidechain",
    "isSystemPrompt",
    "providerMetadata",
    "providerOptions",
    "response_metadata",
    "usage_metadata",
    "userType",
    "version",
];

/// Members that other dialects, and the programs that write conversations, are known to have.
const ELSEWHERE: &[&str] = &[
    "args",
    "arguments",
    "attachments",
    "audio",
    "author",
    "cachePoint",
    "call_id",
    "caller",
    "channel",
    "citations",
    "content",
    "clear_at",
    "context_management",
    "data",
    "display",
    "encrypted_content",
    "end_turn",
    "error",
    "example",
    "experimental_attachments",
    "extra_content",
    "files",
    "function",
    "functionCall",
    "functionResponse",
    "function_call",
    "image",
    "images",
    "input",
    "invalid_tool_calls",
    "isError",
    "is_error",
    "metadata",
    "name",
    "output",
    "output_config",
    "parameters",
    "parsed",
    "parsed_arguments",
    "parsed_output",
    "partial",
    "parts",
    "phase",
    "prefix",
    "provider_specific_fields",
    "reasoning",
    "reasoningContent",
    "reasoning_content",
    "reasoning_details",
    "reasoning_text",
    "recipient",
    "refusal",
    "response",
    "result",
    "role",
    "signature",
    "summary",
    "text",
    "thinking",
    "thinkingSignature",
    "thought",
    "thoughtSignature",
    "thought_signature",
    "title",
    "toolCallId",
    "toolInvocations",
    "toolName",
    "toolResult",
    "toolUse",
    "toolUseId",
    "toolUseResult",
    "tool_call_chunks",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "tool_result",
    "tool_results",
    "tool_use",
    "tool_use_id",
    "video",
    "videos",
    "weight",
];

/// Whether a member of this name holds metadata instead of content.
pub fn is_metadata(key: &str) -> bool {
    ABOUT_RESPONSES.contains(&key) || OF_PROGRAMS.contains(&key)
}

impl Member {
    /// Whether no dialect and no program is known to have it, so that a provider may have added it.
    pub fn is_unknown(&self) -> bool {
        let is_known = is_metadata(&self.key) || ELSEWHERE.contains(&&*self.key);
        matches!(self.sort, MemberSort::Foreign { .. }) && !is_known
    }

    /// Whether it may hold content: it is not empty, and it is not known metadata.
    pub fn says_something(&self) -> bool {
        match self.sort {
            MemberSort::Foreign { empty } => !empty && !is_metadata(&self.key),
            MemberSort::Spare { empty } => !empty && self.kind == MemberKind::Refusal,
            _ => false,
        }
    }

    /// Whether it belongs to the message itself and may hold content.
    pub fn speaks_for_message(&self) -> bool {
        self.block.is_none() && self.says_something()
    }

    /// Whether it belongs to the message itself and holds media.
    pub fn is_media_of_message(&self) -> bool {
        self.speaks_for_message() && self.holds_media()
    }

    /// Whether it is the thinking of another provider, or its signature, as other programs keep it beside a message. It
    /// means nothing to a provider of this dialect.
    pub fn is_foreign_thinking(&self) -> bool {
        matches!(self.sort, MemberSort::Foreign { .. })
            && matches!(self.kind, MemberKind::Thinking | MemberKind::ThinkingSignature)
    }

    /// Whether it holds media, which are useless as text.
    pub fn holds_media(&self) -> bool {
        self.kind == MemberKind::Media
    }
}

/// The content of a member, by its name in any dialect or program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind {
    /// The calls of a message.
    Calls,
    /// The only call of a message, from before messages had a list of calls.
    OnlyCall,
    /// The name of a speaker, or of the tool that gave a result.
    Name,
    /// The model's refusal.
    Refusal,
    /// The thinking of a model.
    Thinking,
    /// The signature of thinking.
    ThinkingSignature,
    /// Images, videos or files.
    Media,
    /// Content of any other kind.
    Other,
}

/// The sort of member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberSort {
    /// The dialect does not define it.
    Foreign {
        /// Whether it holds no content.
        empty: bool,
    },
    /// The dialect defines it, but some of its providers do not support it.
    Spare {
        /// Whether it holds no content.
        empty: bool,
    },
    /// It holds the model's reasoning.
    Reasoning {
        /// Whether it holds no content.
        empty: bool,
    },
    /// It asks the provider to cache the prompt up to here.
    CacheMark,
    /// It is `true` and marks the message for continuation.
    Continued,
    /// It holds the signature of reasoning.
    Signature,
}
