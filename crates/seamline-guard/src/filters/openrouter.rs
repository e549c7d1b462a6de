//! OpenRouter, which forwards the stop reason of the provider behind it.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[
    Sign {
        category: Beside::Itself,
        said: Beside::At("/error/message"),
        ..sign("OpenRouter 403", "/error/metadata/reasons/*", Is::AnyWordBut(&[]), FilteredPart::Request)
    },
    sign("ANT-48", "/choices/*/native_finish_reason", Is::Word(&["refusal"]), FilteredPart::Refusal),
    Sign {
        category: Beside::Itself,
        ..sign(
            "GEM-15",
            "/choices/*/native_finish_reason",
            Is::Word(&["SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"]),
            FilteredPart::Response,
        )
    },
];
