//! Azure OpenAI.

use super::Family;
use crate::kinds::{content, service};
use crate::known::{code, plain, sentence};

pub(super) const FAMILY: Family = Family {
    name: "azure",
    aliases: &["azure-openai", "azure-responses"],
    errors: &[
        sentence(
            "AZR-2",
            400,
            &content::CONTENT_FILTERED,
            r"(?i)prompt triggering (?:Azure OpenAI's|Microsoft's) content management policy",
        ),
        plain("AZR-2", &content::CONTENT_FILTERED, r"(?i)content management policy"),
        code(
            "AZR-2",
            400,
            &content::CONTENT_FILTERED,
            r#"ResponsibleAIPolicyViolation|code["'] ?: ?["']content_filter"#,
        ),
        code("AZR-5", 404, &service::NOT_FOUND, r"DeploymentNotFound"),
    ],
    ..Family::NONE
};
