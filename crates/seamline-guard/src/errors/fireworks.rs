//! Fireworks.

use super::Family;
use crate::kinds::{reasoning, shape};
use crate::known::sentence;

pub(super) const FAMILY: Family = Family {
    name: "fireworks",
    aliases: &["fireworks-ai"],
    errors: &[
        sentence(
            "FWK-1",
            400,
            &reasoning::UNWANTED_REASONING,
            r"Extra inputs are not permitted, field: '[^']*reasoning\w*'",
        ),
        sentence("FWK-1", 400, &shape::UNKNOWN_FIELD, r"Extra inputs are not permitted, field: '"),
    ],
    ..Family::NONE
};
