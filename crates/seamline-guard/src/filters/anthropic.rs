//! Anthropic: the model refuses, in the middle of a stream or before it began.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[Sign {
    category: Beside::At("/stop_details/category"),
    said: Beside::At("/stop_details/explanation"),
    ..sign("ANT-48", "/stop_reason", Is::Word(&["refusal"]), FilteredPart::Refusal)
}];
