//! Edits to text, by copying what stays and writing only what changes.

mod messages;
mod plan;

pub(crate) use messages::{MessageWriter, apply_patches};
pub(crate) use plan::{BlockPlan, MessagePlan, Placed, Plan};

use seamline_model::{Edit, Encoded, Span, Transcript};

/// Applies edits below the level of blocks, which need no dialect: only
/// [`Edit::Patch`]. Messages keep their places.
pub fn patch(transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded {
    let mut patches: Vec<_> = edits
        .iter()
        .filter_map(|edit| match edit {
            Edit::Patch { span, text } => Some((*span, text.clone())),
            Edit::DropMember { cut, .. } => Some((*cut, String::new())),
            _ => None,
        })
        .collect();
    Encoded {
        body: apply_patches(transcript, Span::new(0, transcript.source.len()), &mut patches).into_bytes(),
        origins: transcript.enumerate().map(|(index, _)| Some(index)).collect(),
        landed: vec![None; edits.len()],
        ..Encoded::default()
    }
}
