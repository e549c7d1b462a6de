//! What every dialect can do.

use seamline_model::{Constraints, Edit, Encoded, Place, Span, Transcript};

use crate::convert::Converter;
use crate::streaming::Streaming;
use crate::{
    Error, Results, Shapes, anthropic_messages, bedrock_converse, gemini_generate, openai_chat, openai_responses,
};

/// A way of writing a conversation on the wire.
pub trait Dialect: Sync {
    /// Its name, such as `openai_chat`.
    fn name(&self) -> &'static str;

    /// What it demands of a transcript.
    fn constraints(&self) -> &'static Constraints;

    /// Reads a request body.
    ///
    /// # Errors
    ///
    /// When the body is not UTF-8, not JSON or not this dialect's envelope. A broken conversation is not an
    /// error.
    fn decode<'a>(&self, body: &'a [u8]) -> Result<Transcript<'a>, Error>;

    /// Reads messages that were put behind those of a transcript, without reading those again.
    /// The transcript stands over the new text already; where the messages stand is given.
    /// Nothing when all must be decoded afresh.
    fn read_on<'a>(&self, transcript: Transcript<'a>, added: &[Span]) -> Option<Transcript<'a>>;

    /// Reads the text that edits made of a transcript's, without reading again what was
    /// only copied. Nothing when it must be decoded afresh.
    fn follow<'n>(&self, before: &Transcript<'n>, encoded: &'n Encoded) -> Option<Transcript<'n>>;

    /// Writes edits by splicing the text the transcript was read from, for a provider that
    /// demands this.
    fn encode(&self, transcript: &Transcript<'_>, edits: &[Edit], demands: &Constraints) -> Encoded;

    /// A place as a JSON pointer into the body.
    fn pointer(&self, transcript: &Transcript<'_>, place: &Place) -> String;

    /// What it can do for a conversion.
    fn converter(&self) -> &'static Converter;

    /// What it can do for who runs the tools that are called.
    fn results(&self) -> &'static Results;

    /// What its messages and answers are told by.
    fn shapes(&self) -> &'static Shapes;

    /// What it can do for a stream.
    fn streaming(&self) -> &'static Streaming;
}

/// Every dialect, in the order they are listed.
pub const ALL: &[&dyn Dialect] = &[
    &anthropic_messages::AnthropicMessages,
    &bedrock_converse::BedrockConverse,
    &gemini_generate::GeminiGenerate,
    &openai_chat::OpenAiChat,
    &openai_responses::OpenAiResponses,
];

/// The dialect with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name() == name)
}
