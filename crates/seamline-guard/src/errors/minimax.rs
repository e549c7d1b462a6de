//! MiniMax.

use super::Family;
use crate::kinds::pairing;
use crate::known::sentence;

pub(super) const FAMILY: Family = Family {
    name: "minimax",
    aliases: &["minimax-anthropic"],
    dialects: &[],
    errors: &[sentence("case 12", 400, &pairing::PARTED_RESULTS, r"tool call result does not follow tool call")],
};
