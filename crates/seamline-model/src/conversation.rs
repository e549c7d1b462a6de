//! A conversation independent of its dialect, for conversion from one dialect to another.
//!
//! A [`Transcript`](crate::Transcript) points into the bytes it was read from, so that they can be kept. A
//! [`Conversation`] owns its content, so that another dialect can write it. Each block keeps its original position as a
//! JSON pointer, for the report of what was lost.

mod place_results;
mod settings;

use std::collections::BTreeMap;

pub use settings::{FreeText, Grammar, Other, ResponseFormat, ResponseSchema, Settings, ToolChoice, ToolDefinition};

/// The messages of a request and its settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The system prompt before the first message.
    pub system: Vec<LiftedBlock>,
    /// The messages, in order.
    pub messages: Vec<LiftedMessage>,
    /// The settings of the request.
    pub settings: Settings,
    /// Content of the request that a conversation cannot hold.
    pub left: Vec<Lost>,
    /// Ids made for calls that have none on the wire, with the call each belongs to.
    pub made: BTreeMap<String, String>,
}

/// One role's contribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiftedMessage {
    /// The role that speaks.
    pub speaker: Speaker,
    /// The content, in order.
    pub blocks: Vec<LiftedBlock>,
}

/// Who speaks. Results belong to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Instructions in the middle of the conversation.
    System,
    /// The person, or the program on their behalf.
    User,
    /// The language model.
    Assistant,
}

/// One unit inside a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiftedBlock {
    /// The block's content.
    pub says: Says,
    /// Its original position, as a JSON pointer.
    pub pointer: String,
}

impl LiftedBlock {
    /// A block read at a JSON pointer.
    pub fn new(says: Says, pointer: impl Into<String>) -> Self {
        Self { says, pointer: pointer.into() }
    }

    /// Whether it is text of white space only.
    pub fn is_blank(&self) -> bool {
        matches!(&self.says, Says::Text(text) if text.trim().is_empty())
    }
}

/// The content of a block. All variants but texts are boxed, because most blocks of a dense conversation are texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// A plain text.
    Text(String),
    /// The model asks for a tool to be run.
    Call(Box<LiftedCall>),
    /// The result of a call.
    Result(Box<LiftedResult>),
    /// The model's reasoning.
    Reasoning(Box<Reasoning>),
    /// An image, document, audio or video.
    Media(Box<Media>),
    /// The model's refusal text.
    Refusal(String),
    /// A block that only its own dialect defines.
    Opaque(Box<Opaque>),
}

/// A tool call: the model asks for a tool to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiftedCall {
    /// The id that its result refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The input, as the text of a JSON object.
    pub input: String,
    /// The input of a tool that takes free text; `input` holds it too.
    pub free: Option<String>,
    /// The provider's signature of the call, if the provider signs calls.
    pub signature: Option<String>,
    /// Whether the call is complete, as far as its dialect says, and its input was an object or a text.
    pub whole: bool,
    /// The type of its result in its dialect, such as an item type; empty where all calls have the same result type.
    pub answered_by: &'static str,
    /// Whether the provider runs it.
    pub hosted: bool,
    /// The program that made the call, as JSON in its dialect. Its result names the program, too.
    pub caller: Option<String>,
}

impl LiftedCall {
    /// A complete call that the client runs, as most calls are.
    pub fn new(id: String, name: String, input: String) -> Self {
        Self { id, name, input, free: None, signature: None, whole: true, answered_by: "", hosted: false, caller: None }
    }
}

/// A tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiftedResult {
    /// The id of its call.
    pub id: String,
    /// The tool's name, in dialects that repeat it.
    pub name: Option<String>,
    /// The output of the tool: text, media or opaque blocks.
    pub blocks: Vec<LiftedBlock>,
    /// Whether the tool failed.
    pub failed: bool,
}

/// The model's reasoning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasoning {
    /// The readable text, if there is any.
    pub text: String,
    /// The provider's signature, or the reasoning in encrypted form.
    pub seal: Option<String>,
    /// Whether the text itself is only in the seal.
    pub redacted: bool,
    /// The model family that accepts it when it is sent back.
    pub family: Family,
}

/// The model family that accepts reasoning when it is sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Anthropic's models, on any provider.
    Claude,
    /// The models of `OpenAI`.
    OpenAi,
    /// Google's Gemini models.
    Gemini,
    /// Models whose reasoning is plain text.
    Plain,
}

/// An image, document, audio or video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The kind of media.
    pub kind: MediaKind,
    /// Its MIME type, if known.
    pub mime: Option<String>,
    /// Where its bytes are.
    pub source: MediaSource,
    /// Its file name or title.
    pub name: Option<String>,
    /// The level of detail at which the model looks at it.
    pub detail: Option<String>,
}

impl Media {
    /// Media with only a kind and a source.
    pub fn new(kind: MediaKind, source: MediaSource) -> Self {
        Self { kind, mime: None, source, name: None, detail: None }
    }
}

/// The kind of media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// A still image.
    Image,
    /// A document with pages.
    Document,
    /// A sound recording.
    Audio,
    /// A video recording.
    Video,
}

impl MediaKind {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Document => "document",
            Self::Audio => "audio",
            Self::Video => "video",
        }
    }

    /// The kind that a MIME type names.
    pub fn of_mime(mime: &str) -> Self {
        match mime.split('/').next() {
            Some("image") => Self::Image,
            Some("audio") => Self::Audio,
            Some("video") => Self::Video,
            _ => Self::Document,
        }
    }
}

/// Where the bytes of media are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaSource {
    /// In the request, as base64.
    Data(String),
    /// At a URL.
    Url(String),
    /// Stored by the provider of this model family, under this id.
    File(Family, String),
}

/// A block that only its own dialect defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// Its type on the wire; empty if it has none.
    pub kind: String,
    /// Its source text.
    pub raw: String,
    /// Whether it has content for a reader; otherwise it is a mark for the provider alone.
    pub spoken: bool,
}

/// Something that a conversion changes or drops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// A short description of it.
    pub what: String,
    /// Its position, as a JSON pointer into the original body.
    pub pointer: String,
    /// The treatment of it by the conversion.
    pub fate: Fate,
    /// The reason and the consequence.
    pub note: String,
}

/// Treatment of an item that the target cannot represent unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// The conversion leaves it out.
    Dropped,
    /// The conversion keeps it as text.
    Text,
    /// The conversion moves it elsewhere.
    Moved,
    /// The conversion writes it in another form.
    Altered,
    /// The conversion adds it; it was absent.
    Added,
    /// It is absent, and only the caller can supply it.
    Missing,
    /// The conversion keeps it, although the target may reject it.
    Kept,
}

impl Fate {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Text => "kept_as_text",
            Self::Moved => "moved",
            Self::Altered => "altered",
            Self::Added => "added",
            Self::Missing => "missing",
            Self::Kept => "kept",
        }
    }
}

impl Conversation {
    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &LiftedCall> {
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        blocks.filter_map(|block| if let Says::Call(call) = &block.says { Some(&**call) } else { None })
    }

    /// The results, in order.
    pub fn results(&self) -> impl Iterator<Item = &LiftedResult> {
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        blocks.filter_map(|block| if let Says::Result(result) = &block.says { Some(&**result) } else { None })
    }

    /// Adds a block to the last message if the speaker is the same, or starts a new message with it.
    pub fn say(&mut self, speaker: Speaker, block: LiftedBlock) {
        match self.messages.last_mut() {
            Some(message) if message.speaker == speaker => message.blocks.push(block),
            _ => self.messages.push(LiftedMessage { speaker, blocks: vec![block] }),
        }
    }
}
