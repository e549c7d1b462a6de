//! Outlines of conversations.

use std::ops::Range;

use seamline_dialects::Dialect;
use seamline_model::{BlockKind, MessageIndex, Place, Tool, Transcript};

#[doc(inline)]
pub use seamline_model::Role;

use crate::native::Native;
use crate::preview::preview;
use crate::subject::Subject;
use crate::{Error, Options};

/// The number of bytes of a block's source that its preview uses.
const PREVIEW_BYTES: usize = 400;

/// The outline of a message.
///
/// ```
/// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
///
/// let message = seamline::outline(body, &seamline::Options::default(), 0..1)?.remove(0);
/// assert_eq!((message.index, message.role.as_str()), (0, "user"));
/// assert_eq!(&body[message.span], br#"{"role":"user","content":"hello"}"#);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutlineMessage {
    /// The index of the message.
    pub index: usize,
    /// The role of its author.
    pub role: Role,
    /// The bytes of the message in the body.
    pub span: Range<usize>,
    /// The blocks of the message.
    pub blocks: Vec<OutlineBlock>,
}

/// The outline of a block.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}]}"#;
///
/// let messages = seamline::outline(body, &seamline::Options::default(), 0..2)?;
/// let block = &messages[1].blocks[0];
/// assert_eq!(block.kind, seamline::outline::OutlineKind::Call);
/// assert_eq!((block.name.as_deref(), block.id.as_deref()), (Some("read"), Some("toolu_1")));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutlineBlock {
    /// The kind of the block.
    pub kind: OutlineKind,
    /// The index of the block in its list.
    pub index: usize,
    /// The id of a call, or the id that a result names.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: Option<String>,
    /// The place, as a JSON pointer into the body.
    pub pointer: String,
    /// The bytes of the block in the body.
    pub span: Range<usize>,
    /// The start of its text, on one line.
    pub preview: String,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutlineKind {
    /// Text of the user, the model or the system.
    Text,
    /// A call that the client runs.
    Call,
    /// A call that the provider runs.
    ServerCall,
    /// The result of a call that the client ran.
    Result,
    /// The result of a call that the provider ran.
    ServerResult,
    /// Reasoning of the model.
    Reasoning,
    /// An image, a document or a sound.
    Media,
    /// A block that the dialect does not know.
    Opaque,
}

impl OutlineKind {
    /// The name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Call => "call",
            Self::ServerCall => "server call",
            Self::Result => "result",
            Self::ServerResult => "server result",
            Self::Reasoning => "reasoning",
            Self::Media => "media",
            Self::Opaque => "opaque",
        }
    }
}

/// Outlines the messages in `range`, as far as they exist.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}]}"#;
///
/// for message in seamline::outline(body, &seamline::Options::default(), 0..10)? {
///     for block in &message.blocks {
///         println!("{} {}: {} {}", message.index, message.role.as_str(), block.kind.as_str(), block.preview);
///     }
/// }
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// The same errors as [`check`](fn@crate::check).
pub fn outline(body: &[u8], options: &Options, range: Range<usize>) -> Result<Vec<OutlineMessage>, Error> {
    outline_at(body, options, range, PREVIEW_BYTES)
}

/// Outlines the messages at `indices`, in that order, up to the first that does not exist. The previews use the first
/// `preview_bytes` of each block's source.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"hello"},
///   {"role":"assistant","content":"hello to you"},
///   {"role":"user","content":"good-bye"}]}"#;
///
/// let messages = seamline::outline::outline_at(body, &seamline::Options::default(), [0, 2], 80)?;
/// let said: Vec<_> = messages.iter().map(|message| message.blocks[0].preview.as_str()).collect();
/// assert_eq!(said, ["hello", "good-bye"]);
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// The same errors as [`check`](fn@crate::check).
pub fn outline_at(
    body: &[u8],
    options: &Options,
    indices: impl IntoIterator<Item = usize>,
    preview_bytes: usize,
) -> Result<Vec<OutlineMessage>, Error> {
    if let Some(native) = Native::shown(body, options)? {
        return native.outline(indices, preview_bytes);
    }
    outline_body(body, options, indices, preview_bytes)
}

/// Outlines messages of a request body.
pub(crate) fn outline_body(
    body: &[u8],
    options: &Options,
    indices: impl IntoIterator<Item = usize>,
    preview_bytes: usize,
) -> Result<Vec<OutlineMessage>, Error> {
    let dialect = Subject::dialect(body, options)?;
    let transcript = dialect.decode(body)?;
    let count = transcript.messages.len();
    Ok(indices
        .into_iter()
        // `take_while`, because a range may have no end.
        .take_while(|&index| index < count)
        .map(|index| {
            let index = MessageIndex(index as u32);
            message(dialect, &transcript, index, preview_bytes)
        })
        .collect())
}

/// Returns the bytes of each message of a body.
///
/// ```
/// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
///
/// let spans = seamline::outline::message_spans(body, &seamline::Options::default())?;
/// assert_eq!(&body[spans[0].clone()], br#"{"role":"user","content":"hello"}"#);
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// The same errors as [`check`](fn@crate::check).
pub fn message_spans(body: &[u8], options: &Options) -> Result<Vec<Range<usize>>, Error> {
    if let Some(native) = Native::shown(body, options)? {
        return Ok(native.spans());
    }
    let dialect = Subject::dialect(body, options)?;
    let transcript = dialect.decode(body)?;
    Ok(transcript.messages.iter().map(|message| message.span.range()).collect())
}

fn message(
    dialect: &Dialect,
    transcript: &Transcript<'_>,
    index: MessageIndex,
    preview_bytes: usize,
) -> OutlineMessage {
    let blocks = transcript
        .blocks_of(index)
        .map(|(block, content)| {
            let (kind, id, tool) = named(&content.kind);
            let place = Place { message: Some(index), block: Some(block), span: content.span };
            OutlineBlock {
                kind,
                index: content.slot().index as usize,
                id: id.map(str::to_owned),
                name: transcript.name(tool).map(str::to_owned),
                pointer: dialect.pointer(transcript, &place),
                span: content.span.range(),
                preview: preview(transcript, content, preview_bytes),
            }
        })
        .collect();
    OutlineMessage {
        index: index.get(),
        role: transcript.message(index).role,
        span: transcript.message(index).span.range(),
        blocks,
    }
}

fn named(kind: &BlockKind) -> (OutlineKind, Option<&str>, Option<Tool>) {
    match kind {
        BlockKind::Text(_) => (OutlineKind::Text, None, None),
        BlockKind::Call(call) => (OutlineKind::Call, call.id.as_deref(), call.tool),
        BlockKind::ServerCall(server) => (OutlineKind::ServerCall, server.call.id.as_deref(), server.call.tool),
        BlockKind::Result(result) => (OutlineKind::Result, result.id.as_deref(), result.tool),
        BlockKind::ServerResult(result) => (OutlineKind::ServerResult, result.id.as_deref(), None),
        BlockKind::Reasoning { .. } => (OutlineKind::Reasoning, None, None),
        BlockKind::Media => (OutlineKind::Media, None, None),
        BlockKind::Opaque => (OutlineKind::Opaque, None, None),
    }
}
