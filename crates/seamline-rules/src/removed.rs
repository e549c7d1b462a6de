//! The names of what a repair removes.

use seamline_model::{BlockKind, Edit, Transcript};

/// Names what an edit removes, if it removes something.
pub(crate) fn removed(transcript: &Transcript<'_>, edit: &Edit) -> Option<String> {
    match edit {
        Edit::DropMember { member, .. } => key(transcript.text(*member)).map(|key| format!("`{key}`")),
        Edit::Remove { block } => Some(kind(&transcript.block(*block).kind).to_owned()),
        Edit::RemoveMessage { .. } => Some("the message".to_owned()),
        Edit::RemoveCallList { .. } => Some("the list of tool calls".to_owned()),
        Edit::RemoveItemId { .. } => Some("`id`".to_owned()),
        _ => None,
    }
}

/// The key of a member, as it is written. Keys are quoted, and a quote inside one has a backslash.
fn key(member: &str) -> Option<&str> {
    let key = member.trim_start_matches([',', ' ', '\n', '\r', '\t']).strip_prefix('"')?;
    let is_end = |&(at, _): &(usize, &str)| !key[..at].ends_with('\\');
    key.match_indices('"').find(is_end).map(|(end, _)| &key[..end])
}

fn kind(kind: &BlockKind) -> &'static str {
    match kind {
        BlockKind::Text(_) => "a text",
        BlockKind::Call(_) => "a tool call",
        BlockKind::ServerCall(_) => "a server tool call",
        BlockKind::Result(_) => "a tool result",
        BlockKind::ServerResult(_) => "a server tool result",
        BlockKind::Reasoning { .. } => "reasoning",
        BlockKind::Media => "media",
        BlockKind::Opaque => "a block",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_member_is_read() {
        assert_eq!(key(r#""refusal": null"#), Some("refusal"));
        assert_eq!(key(r#", "a\"b":1"#), Some(r#"a\"b"#));
        assert_eq!(key("7"), None);
    }
}
