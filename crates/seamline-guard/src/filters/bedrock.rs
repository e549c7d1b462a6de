//! Bedrock: guardrails of the account and the model's filter.

use super::{Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[
    sign("BED-14", "/stopReason", Is::Word(&["guardrail_intervened"]), FilteredPart::Either),
    Sign { may_pass: true, ..sign("BED-14", "/stopReason", Is::Word(&["content_filtered"]), FilteredPart::Response) },
    // For requests in the model's own dialect.
    sign("BED-14", "/amazon-bedrock-guardrailAction", Is::Word(&["INTERVENED"]), FilteredPart::Either),
];
