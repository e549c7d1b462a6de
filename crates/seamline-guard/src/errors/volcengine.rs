//! Volcengine Ark, which serves Doubao.

use super::Family;
use crate::kinds::content;
use crate::known::code;

pub(super) const FAMILY: Family = Family {
    name: "volcengine",
    aliases: &["doubao", "ark"],
    errors: &[
        code(
            "Ark sensitive",
            400,
            &content::CONTENT_FILTERED,
            r"Input(?:Text|Image|Video|Audio)?SensitiveContentDetected(?:\.\w+)?",
        ),
        code(
            "Ark sensitive",
            400,
            &content::RESPONSE_FILTERED,
            r"Output(?:Text|Image|Video|Audio)?SensitiveContentDetected(?:\.\w+)?",
        ),
        code("Ark sensitive", 400, &content::EITHER_FILTERED, r"SensitiveContentDetected(?:\.\w+)?"),
    ],
    ..Family::NONE
};
