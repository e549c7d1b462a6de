//! Cerebras.

use super::Family;
use crate::kinds::{content, reasoning, shape};
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "cerebras",
    aliases: &[],
    errors: &[
        sentence("CER-3", 400, &content::CONTEXT_OVERFLOW, r"(?i)current length is \d+ while limit is \d+"),
        sentence(
            "CER-1",
            400,
            &reasoning::UNWANTED_REASONING,
            r"property 'messages\.\d+\.[\w.]*(?:reasoning|thinking)\w*' is unsupported",
        ),
        sentence("CER-1", 400, &shape::UNKNOWN_FIELD, r"property 'messages\.\d+\.[\w.]+' is unsupported"),
        code("CER-1", 400, &shape::UNKNOWN_FIELD, r"wrong_api_format"),
    ],
    ..Family::NONE
};
