//! Members that the type of a block does not define, and cache marks.

use seamline_model::MemberSort;

use crate::ids::{CALL_ID_KEYS, RESULT_ID_KEYS};
use crate::json::{Kind, Value};
use crate::members::is_hollow;
use crate::reader::Reader;

/// Types of blocks with the members they have. ANT-2, ANT-23, and the SDK's types.
const TYPES: &[(&str, &[&str])] = &[
    ("text", &["type", "text", "cache_control", "citations"]),
    ("tool_use", &["type", "id", "name", "input", "cache_control", "caller", "toolset_name"]),
    ("tool_result", &["type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"]),
    ("thinking", &["type", "thinking", "signature"]),
    ("redacted_thinking", &["type", "data"]),
    ("image", &["type", "source", "cache_control", "transformations"]),
];

/// Notes the members of a block that its type does not define, and its cache mark. Blocks of other types change too
/// often for a list. Members that were `read` under another name are noted as irregularities elsewhere.
pub(super) fn note<'d, 'a>(
    block: Value<'d, 'a>,
    kind: Option<Value<'_, '_>>,
    read: [Option<Value<'d, 'a>>; 2],
    reader: &mut Reader<'_>,
) {
    let known = TYPES.iter().find(|(name, _)| kind.is_some_and(|kind| kind.says(name)));
    for (key, member) in block.members() {
        let name = key.name();
        let is_known = known.is_none_or(|(_, keys)| keys.contains(&&*name));
        // An id under another key is an irregularity of its own.
        let is_id = CALL_ID_KEYS.contains(&&*name) || RESULT_ID_KEYS.contains(&&*name);
        let is_read = read.iter().flatten().any(|read| read.span() == member.span());
        // If the value is null, only the name can be wrong.
        if member.is(Kind::Null) && is_known || is_id || is_read {
            continue;
        }
        let owner = known.map_or("", |(name, _)| name);
        if !is_known {
            reader.member(member, MemberSort::Foreign { empty: is_hollow(member) }, owner);
        } else if name == "cache_control" {
            reader.member(member, MemberSort::CacheMark, owner);
        }
    }
}
