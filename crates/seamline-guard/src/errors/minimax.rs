//! MiniMax.

use super::Family;
use crate::kinds::{content, pairing, service, shape};
use crate::known::{code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "minimax",
    aliases: &["minimax-anthropic"],
    errors: &[
        // Seen with 422 and with 500, which looks like a server failure.
        sentence(
            "MiniMax 1026",
            422,
            &content::CONTENT_FILTERED,
            r"input (?:new_)?sensitive[^\n]{0,200}\(1026\)|input new_sensitive",
        ),
        sentence(
            "MiniMax 1027",
            422,
            &content::RESPONSE_FILTERED,
            r"output (?:new_)?sensitive[^\n]{0,200}\(1027\)|output new_sensitive",
        ),
        code("MiniMax 1026", 200, &content::CONTENT_FILTERED, r#"status_code["'] ?: ?1026"#),
        code("MiniMax 1027", 200, &content::RESPONSE_FILTERED, r#"status_code["'] ?: ?1027"#),
        sentence("MiniMax 2013", 400, &pairing::ORPHAN_RESULT, r"tool result's tool id ?\([^)\n]{0,200}\) not found"),
        sentence("MiniMax 2013", 400, &pairing::CALL_INPUT, r"invalid function arguments json string"),
        sentence("MiniMax 2013", 400, &shape::UNSUPPORTED_ROLE, r"chat content has invalid message role"),
        sentence(
            "MiniMax 2013",
            400,
            &service::TOOL_DECLARATION,
            r"function parameters is empty \(2013\)|invalid tool type: [^\n]{0,80}\(2013\)",
        ),
        sentence("case 12", 400, &pairing::PARTED_RESULTS, r"tool call result does not follow tool call"),
    ],
    ..Family::NONE
};
