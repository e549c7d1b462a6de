//! Google's Gemini: a prompt that is blocked has no candidates, a candidate may end in a filter.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

/// The filter looked at what the model happened to say.
const SAMPLED: &[&str] = &["RECITATION", "IMAGE_RECITATION", "LANGUAGE"];

const FORBIDDEN: &[&str] =
    &["SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "MODEL_ARMOR"];

pub(super) const SIGNS: &[Sign] = &[
    Sign {
        category: Beside::Itself,
        said: Beside::Member("blockReasonMessage"),
        ..sign(
            "GEM-14",
            "/promptFeedback/blockReason",
            Is::AnyWordBut(&["BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"]),
            FilteredPart::Request,
        )
    },
    Sign {
        category: Beside::Itself,
        said: Beside::Member("finishMessage"),
        ..sign("GEM-15", "/candidates/*/finishReason", Is::Word(FORBIDDEN), FilteredPart::Answer)
    },
    Sign {
        category: Beside::Itself,
        said: Beside::Member("finishMessage"),
        may_pass: true,
        ..sign("GEM-15", "/candidates/*/finishReason", Is::Word(SAMPLED), FilteredPart::Answer)
    },
];
