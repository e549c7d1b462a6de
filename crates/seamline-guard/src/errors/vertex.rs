//! Google's Vertex AI with models of other companies.

use super::Family;
use crate::kinds::service;
use crate::known::{sentence, sort};

pub(super) const FAMILY: Family = Family {
    name: "vertex",
    aliases: &["vertex-anthropic", "vertex-claude", "vertex-ai"],
    errors: &[
        sentence("VTX-5", 429, &service::RATE_LIMITED, r"Resource (?:has been )?exhausted|Quota exceeded for"),
        sort("VTX-5", 429, &service::RATE_LIMITED, r"RESOURCE_EXHAUSTED"),
    ],
    ..Family::NONE
};
