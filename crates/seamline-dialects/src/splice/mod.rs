//! Edits to text, by copying what stays and writing only what changes.

mod messages;
mod plan;

pub(crate) use messages::{MessageWriter, apply_patches};
pub(crate) use plan::{BlockPlan, MessagePlan, Placed, Plan};

use seamline_model::{Edit, Encoded, MessageIndex, Transcript};

use crate::json::{Document, Nodes};

/// Applies edits below the level of blocks, which need no dialect: only
/// [`Edit::Patch`]. Messages keep their places.
pub fn patch(text: &str, message_count: usize, edits: &[Edit]) -> Encoded {
    let mut patches: Vec<_> = edits
        .iter()
        .filter_map(|edit| match edit {
            Edit::Patch { span, text } => Some((*span, text.clone())),
            _ => None,
        })
        .collect();
    Encoded {
        text: apply_patches(text, 0..text.len(), &mut patches),
        origins: (0..message_count).map(|index| Some(MessageIndex(index as u32))).collect(),
        landed: vec![None; edits.len()],
        ..Encoded::default()
    }
}

/// The values of a text that edits made, without scanning again what was only copied.
/// Nothing when the text must be scanned afresh.
pub fn follow(document: &Document<'_>, transcript: &Transcript<'_>, encoded: &Encoded) -> Option<Nodes> {
    let list = crate::reading::messages(document, "").ok()?;
    document.follow(list.node, transcript, encoded)
}
