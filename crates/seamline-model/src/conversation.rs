//! A conversation as every dialect could say it, without its wire: what goes from one
//! dialect into another.
//!
//! A [`Transcript`](crate::Transcript) points into the bytes it was read from, so that they
//! can be kept; a [`Conversation`] owns what was said, so that it can be said elsewhere. Each
//! block keeps where it stood, as a JSON pointer, for the report of what got lost.

mod settings;
mod settle;

use std::collections::BTreeMap;

pub use settings::{AnswerFormat, AnswerSchema, FreeText, Grammar, Other, Settings, ToolChoice, ToolDefinition};

/// What was said, by whom, and how the answer was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// What stands before the first message.
    pub system: Vec<Block>,
    /// The messages.
    pub messages: Vec<Message>,
    /// How the answer was asked for.
    pub settings: Settings,
    /// What was read and cannot be said here.
    pub left: Vec<Lost>,
    /// Ids of calls that have none on the wire, and which calls these are.
    pub made: BTreeMap<String, String>,
}

/// One role's contribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub speaker: Speaker,
    /// What is said.
    pub blocks: Vec<Block>,
}

/// Who speaks. Results are the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Whoever set the conversation up, in the middle of it.
    System,
    /// The person, or the program on their behalf.
    User,
    /// The model.
    Assistant,
}

/// One unit inside a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it says.
    pub says: Says,
    /// Where it stood, as a JSON pointer.
    pub pointer: String,
}

impl Block {
    /// A block that was read at a place.
    pub fn new(says: Says, pointer: impl Into<String>) -> Self {
        Self { says, pointer: pointer.into() }
    }

    /// Whether it is text with nothing in it.
    pub fn is_blank(&self) -> bool {
        matches!(&self.says, Says::Text(text) if text.trim().is_empty())
    }
}

/// What a block says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// Words.
    Text(String),
    /// The model asks for a tool to be run.
    Call(Call),
    /// The answer to a call.
    Result(Answer),
    /// How the model came to what it says.
    Reasoning(Reasoning),
    /// Something to look at or listen to.
    Media(Media),
    /// The model declines, in these words.
    Refusal(String),
    /// Something only its own dialect knows.
    Opaque(Opaque),
}

/// The model asks for a tool to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What the result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the tool is given, as the text of a JSON object.
    pub input: String,
    /// What it is given where it takes any text; the object holds it too.
    pub free: Option<String>,
    /// What makes the call genuine, for those who sign calls.
    pub seal: Option<String>,
    /// Whether nothing of it is missing, as far as its dialect says, and its input was an object or a text.
    pub whole: bool,
    /// What it is answered with in its dialect, such as the type of an item; nothing where calls are all answered alike.
    pub answered_by: &'static str,
    /// Whether the provider runs it.
    pub hosted: bool,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The id of the call.
    pub id: String,
    /// The tool, where the dialect names it.
    pub name: Option<String>,
    /// What the tool gave: text, media, or what only one dialect knows.
    pub blocks: Vec<Block>,
    /// Whether the tool failed.
    pub failed: bool,
}

/// How the model came to what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasoning {
    /// The words, if they may be read.
    pub text: String,
    /// What makes it genuine, or holds it in a form that only the provider reads.
    pub seal: Option<String>,
    /// Whether the seal holds the words themselves.
    pub redacted: bool,
    /// Whose models take it back.
    pub family: Family,
}

/// Whose models take reasoning back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Anthropic's, wherever they are served.
    Claude,
    /// Those of `OpenAI`.
    OpenAi,
    /// Google's.
    Gemini,
    /// Models that write theirs down as plain text.
    Plain,
}

/// Something to look at or listen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// What sort of thing.
    pub kind: MediaKind,
    /// Its MIME type, where it is known.
    pub mime: Option<String>,
    /// Where its bytes are.
    pub source: MediaSource,
    /// What it is called.
    pub name: Option<String>,
    /// How closely it is to be looked at.
    pub detail: Option<String>,
}

impl Media {
    /// Media of which no more is known than where they are.
    pub fn new(kind: MediaKind, source: MediaSource) -> Self {
        Self { kind, mime: None, source, name: None, detail: None }
    }
}

/// What sort of media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Something with pages.
    Document,
    /// Something to listen to.
    Audio,
    /// A film.
    Video,
}

impl MediaKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Document => "document",
            Self::Audio => "audio",
            Self::Video => "video",
        }
    }

    /// The kind a MIME type speaks of.
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
    /// Here, as base64.
    Data(String),
    /// At an address.
    Url(String),
    /// With the provider of these models, under this id.
    File(Family, String),
}

/// Something only its own dialect knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// Its type on the wire; empty for what has none.
    pub kind: String,
    /// Its source.
    pub raw: String,
    /// Whether it says something to a reader, or is a mark for the provider alone.
    pub spoken: bool,
}

/// Something that a conversion does not carry over as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// What it is.
    pub what: String,
    /// Where it stood, as a JSON pointer into the body that came.
    pub pointer: String,
    /// What happens to it.
    pub fate: Fate,
    /// Why, and what that means.
    pub note: String,
}

/// What happens to something that cannot be said as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is left out.
    Dropped,
    /// It is kept as text.
    Text,
    /// It stands somewhere else.
    Moved,
    /// It is there in another form.
    Altered,
    /// It was not there and was made up.
    Added,
    /// It is not there, and only the caller can say it.
    Missing,
}

impl Fate {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Text => "kept_as_text",
            Self::Moved => "moved",
            Self::Altered => "altered",
            Self::Added => "added",
            Self::Missing => "missing",
        }
    }
}

impl Conversation {
    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        blocks.filter_map(|block| if let Says::Call(call) = &block.says { Some(call) } else { None })
    }

    /// The results, in order.
    pub fn results(&self) -> impl Iterator<Item = &Answer> {
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        blocks.filter_map(|block| if let Says::Result(result) = &block.says { Some(result) } else { None })
    }

    /// Adds a block to what a speaker is saying, or starts a message with it.
    pub fn say(&mut self, speaker: Speaker, block: Block) {
        match self.messages.last_mut() {
            Some(message) if message.speaker == speaker => message.blocks.push(block),
            _ => self.messages.push(Message { speaker, blocks: vec![block] }),
        }
    }
}
