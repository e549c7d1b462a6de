//! Google's Gemini: a blocked prompt has no candidates, and a filter can end a candidate.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

/// Makes a sign of a filter that checked the sampled response.
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
        ..sign("GEM-15", "/candidates/*/finishReason", Is::Word(FORBIDDEN), FilteredPart::Response)
    },
    Sign {
        category: Beside::Itself,
        said: Beside::Member("finishMessage"),
        may_pass: true,
        ..sign("GEM-15", "/candidates/*/finishReason", Is::Word(SAMPLED), FilteredPart::Response)
    },
];
