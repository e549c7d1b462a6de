//! Edits to text, by copying what stays and writing only what changes.

mod messages;
mod plan;

pub(crate) use messages::{MessageWriter, apply_patches};
pub(crate) use plan::{BlockPlan, MessagePlan, Placed, Plan};

use seamline_model::{Edit, Encoded, Span, Transcript};

/// Applies edits below the level of blocks, which need no dialect: those that
/// [are about bytes](Edit::is_bytes). Messages keep their order; what they say must be read
/// afresh. Of edits that overlap the first counts.
pub fn patch(transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded {
    let mut patches: Vec<(Span, &str)> = edits
        .iter()
        .filter_map(|edit| match edit {
            Edit::Patch { span, text } => Some((*span, text.as_str())),
            Edit::DropMember { cut, .. } => Some((*cut, "")),
            _ => None,
        })
        .collect();
    patches.sort_by_key(|(span, _)| (span.start, span.end));
    let source = transcript.source;
    let mut out = Encoded {
        origins: transcript.enumerate().map(|(index, _)| Some(index)).collect(),
        landed: vec![None; edits.len()],
        ..Encoded::of(source, 0)
    };
    let whole = [0..source.body.len()];
    for piece in if source.pieces.is_empty() { &whole } else { source.pieces } {
        let mut at = piece.start;
        let first = patches.partition_point(|(span, _)| (span.start as usize) < piece.start);
        for (span, text) in &patches[first..] {
            let span = span.range();
            if span.start >= piece.end {
                break;
            }
            if span.start >= at && span.end <= piece.end {
                out.push(at..span.start, source.body);
                out.write(text, source.body);
                at = span.end;
            }
        }
        out.push(at..piece.end, source.body);
    }
    out
}
