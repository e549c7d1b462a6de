//! Zhipu's GLM.

use super::Family;
use crate::kinds::{content, shape};
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "zhipu",
    aliases: &["zai", "z-ai", "glm"],
    errors: &[
        sentence(
            "Zhipu 1301",
            400,
            &content::EITHER_FILTERED,
            r"potentially unsafe or sensitive content in input or generation|可能包含不安全或敏感内容",
        ),
        code("Zhipu 1301", 400, &content::EITHER_FILTERED, r#"code["'] ?: ?["']?1301"#),
        // The messages of the request are missing or not valid.
        code("Zhipu 1213", 400, &shape::REJECTED_BODY, r#"code["'] ?: ?["']?1213"#),
        code("Zhipu 1214", 400, &shape::WRONG_MEMBER, r#"code["'] ?: ?["']?1214"#),
        code("Zhipu sensitive", 200, &content::RESPONSE_FILTERED, r#"finish_reason["'] ?: ?["']sensitive"#),
    ],
    ..Family::NONE
};
