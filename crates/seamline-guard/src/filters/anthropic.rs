//! Anthropic: refusals of the model, before or during a stream.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[Sign {
    category: Beside::At("/stop_details/category"),
    said: Beside::At("/stop_details/explanation"),
    ..sign("ANT-48", "/stop_reason", Is::Word(&["refusal"]), FilteredPart::Refusal)
}];
