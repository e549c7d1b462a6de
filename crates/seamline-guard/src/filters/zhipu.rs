//! Zhipu's GLM.

use super::{Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] =
    &[sign("Zhipu sensitive", "/choices/*/finish_reason", Is::Word(&["sensitive"]), FilteredPart::Response)];
