//! OpenAI's Chat Completions and compatible servers.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[
    Sign {
        may_pass: true,
        ..sign("OAC-16", "/choices/*/finish_reason", Is::Word(&["content_filter"]), FilteredPart::Response)
    },
    Sign {
        said: Beside::Itself,
        ..sign("OAC-16", "/choices/*/message/refusal", Is::AnyWordBut(&[]), FilteredPart::Refusal)
    },
    Sign {
        said: Beside::Itself,
        ..sign("OAC-16", "/choices/*/delta/refusal", Is::AnyWordBut(&[]), FilteredPart::Refusal)
    },
];
