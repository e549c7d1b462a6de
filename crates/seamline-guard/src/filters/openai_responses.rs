//! OpenAI's Responses: incomplete responses, failed responses and refusals.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

/// The error codes of policy violations.
const POLICIES: &[&str] = &[
    "bio_policy",
    "cyber_policy",
    "misalignment_policy_violation",
    "image_content_policy_violation",
    "content_policy_violation",
    "moderation_blocked",
];

pub(super) const SIGNS: &[Sign] = &[
    incomplete("/incomplete_details/reason"),
    incomplete("/response/incomplete_details/reason"),
    failed("/error/code"),
    failed("/response/error/code"),
    refused("/output/*/content/*/type"),
    refused("/response/output/*/content/*/type"),
];

const fn incomplete(at: &'static str) -> Sign {
    Sign { may_pass: true, ..sign("OAR-21", at, Is::Word(&["content_filter"]), FilteredPart::Response) }
}

const fn failed(at: &'static str) -> Sign {
    Sign {
        category: Beside::Itself,
        said: Beside::Member("message"),
        ..sign("OAR-22", at, Is::Word(POLICIES), FilteredPart::Request)
    }
}

const fn refused(at: &'static str) -> Sign {
    Sign { said: Beside::Member("refusal"), ..sign("OAC-16", at, Is::Word(&["refusal"]), FilteredPart::Refusal) }
}
