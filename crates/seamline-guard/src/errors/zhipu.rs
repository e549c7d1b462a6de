//! Zhipu's GLM.

use super::Family;
use crate::kinds::content;
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
        code("Zhipu sensitive", 200, &content::RESPONSE_FILTERED, r#"finish_reason["'] ?: ?["']sensitive"#),
    ],
    ..Family::NONE
};
