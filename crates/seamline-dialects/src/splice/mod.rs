//! Edits to text, by copying what stays and writing only what changes.

mod messages;
mod plan;

pub(crate) use messages::{MessageWriter, apply_patches};
pub(crate) use plan::{BlockPlan, MessagePlan, Placed, Plan};

use seamline_model::{Edit, Encoded, MessageIndex};

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
