//! A conversation at a glance.

use seamline_dialects::Document;
use seamline_model::{BlockKind, MessageIndex, Role, Transcript};

use crate::subject::Subject;
use crate::{Error, Options};

/// How many characters of a block's source are looked at for its preview.
const PREVIEW_BYTES: usize = 400;

/// One message at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineMessage {
    /// Its index.
    pub index: usize,
    /// Who speaks.
    pub role: &'static str,
    /// What is in it.
    pub blocks: Vec<OutlineBlock>,
}

/// One block at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineBlock {
    /// What it is: `text`, `call`, `result`, `reasoning`, `media`, `opaque`.
    pub kind: &'static str,
    /// The block's place in its list.
    pub index: usize,
    /// The id of a call, or the one a result names.
    pub id: Option<String>,
    /// The name of a tool.
    pub name: Option<String>,
    /// The start of its source, on one line.
    pub preview: String,
}

/// The messages in `range` at a glance, as far as they exist.
///
/// # Errors
///
/// As [`check`](crate::check).
pub fn outline(
    body: &[u8],
    options: &Options,
    range: std::ops::Range<usize>,
) -> Result<Vec<OutlineMessage>, Error> {
    let document = Document::from_bytes(body)?;
    let dialect = Subject::dialect(&document, options)?;
    let transcript = dialect.decode(&document)?;
    let end = range.end.min(transcript.messages.len());
    Ok((range.start..end)
        .map(|index| message(&transcript, MessageIndex(index as u32)))
        .collect())
}

fn message(transcript: &Transcript<'_>, index: MessageIndex) -> OutlineMessage {
    let blocks = transcript
        .blocks_of(index)
        .map(|(block, content)| {
            let (kind, id, name) = named(&content.kind);
            OutlineBlock {
                kind,
                index: content.slot.index as usize,
                id: id.map(str::to_owned),
                name: name.map(str::to_owned),
                preview: preview(transcript, block),
            }
        })
        .collect();
    OutlineMessage {
        index: index.get(),
        role: role_name(transcript.message(index).role),
        blocks,
    }
}

fn named<'k>(kind: &'k BlockKind<'_>) -> (&'static str, Option<&'k str>, Option<&'k str>) {
    match kind {
        BlockKind::Text(_) => ("text", None, None),
        BlockKind::Call(call) => ("call", call.id.as_deref(), call.name.as_deref()),
        BlockKind::ServerCall(call) => ("server call", call.id.as_deref(), call.name.as_deref()),
        BlockKind::Result(result) => ("result", result.id.as_deref(), result.name.as_deref()),
        BlockKind::ServerResult { id } => ("server result", id.as_deref(), None),
        BlockKind::Reasoning { .. } => ("reasoning", None, None),
        BlockKind::Media => ("media", None, None),
        BlockKind::Opaque => ("opaque", None, None),
    }
}

/// The start of what a block says, white space folded.
fn preview(transcript: &Transcript<'_>, block: seamline_model::BlockIndex) -> String {
    let content = transcript.block(block);
    let span = match &content.kind {
        BlockKind::Result(result) if !result.content.is_empty() => result.content,
        _ => content.span,
    };
    let source = transcript.text(span);
    let head = &source[..source.floor_char_boundary(PREVIEW_BYTES)];
    let text = seamline_dialects::said(head);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Function => "function",
        Role::Unknown => "?",
    }
}
