//! The differences between two JSON texts, member by member.

use serde_json::{Map, Value};

use super::diff_rows::Sign;

/// The bytes shown around the first difference of two texts.
const AROUND_BYTES: usize = 40;
/// The most bytes of a value that are shown.
const VALUE_BYTES_MAX: usize = 1000;
/// The bytes of a preview that a row shows on any terminal.
const ROW_BYTES: usize = 120;
/// The most members of a value that came or went that are shown one by one; a larger value is shown as a whole.
const MEMBERS_MAX: usize = 12;

/// A difference: which side has it, and its path with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldChange {
    pub(crate) sign: Sign,
    pub(crate) text: String,
}

/// The differences between two JSON texts. Texts that differ in their bytes and not in their values, or that cannot be
/// read, are shown around their first difference.
pub(crate) fn changes(before: &[u8], after: &[u8]) -> Vec<FieldChange> {
    if before == after {
        return Vec::new();
    }
    let read = |bytes| serde_json::from_slice::<Value>(bytes).ok();
    let mut changes = Vec::new();
    if let (Some(before), Some(after)) = (read(before), read(after)) {
        compare(&mut changes, "", &before, &after);
    }
    if changes.is_empty() { around(before, after) } else { changes }
}

/// Whether the row of a block shows a difference: its id and name. If the row shows the content, given by its preview, it
/// shows the texts of the content, and of the other values those at the start of the preview.
pub(crate) fn is_shown(change: &str, preview: Option<&str>) -> bool {
    const NAMES: [&str; 6] = ["id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "name"];
    const CONTENT: [&str; 8] = ["arguments", "args", "content", "input", "output", "response", "text", "thinking"];
    let (path, value) = change.split_once(": ").unwrap_or((change, ""));
    let mut keys = path.split('.');
    let is_content = preview.is_some_and(|preview| {
        let start = &preview[..preview.floor_char_boundary(ROW_BYTES)];
        keys.clone().any(|key| CONTENT.contains(&key)) && (value.starts_with('"') || start.contains(value))
    });
    is_content || keys.next_back().is_some_and(|key| NAMES.contains(&key))
}

/// The differences between two messages beside their blocks.
pub(crate) fn message_changes(before: &[u8], after: &[u8]) -> Vec<FieldChange> {
    let read = |bytes| serde_json::from_slice::<Map<String, Value>>(bytes).ok();
    let (Some(mut before), Some(mut after)) = (read(before), read(after)) else { return around(before, after) };
    for message in [&mut before, &mut after] {
        message.retain(|key, value| !(BLOCKS.contains(&key.as_str()) && holds_blocks(key, value)));
    }
    let mut changes = Vec::new();
    compare(&mut changes, "", &Value::Object(before), &Value::Object(after));
    changes
}

/// The members of messages that hold blocks.
const BLOCKS: [&str; 3] = [TEXT, "parts", "tool_calls"];
/// The one of them that may be a text.
const TEXT: &str = "content";

fn holds_blocks(key: &str, value: &Value) -> bool {
    match value {
        Value::Array(blocks) => !blocks.is_empty(),
        Value::String(text) => key == TEXT && !text.is_empty(),
        _ => false,
    }
}

fn compare(changes: &mut Vec<FieldChange>, path: &str, before: &Value, after: &Value) {
    match (before, after) {
        _ if before == after => {}
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                match new.get(key) {
                    Some(other) => compare(changes, &joined(path, key), value, other),
                    None => push_member(changes, Sign::Before, &joined(path, key), value),
                }
            }
            for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                push_member(changes, Sign::After, &joined(path, key), value);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (value, other)) in old.iter().zip(new).enumerate() {
                compare(changes, &joined(path, &index.to_string()), value, other);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.is_empty() || new.is_empty() => {
            push_member(changes, Sign::Before, path, before);
            push_member(changes, Sign::After, path, after);
        }
        _ => {
            push(changes, Sign::Before, path, before);
            push(changes, Sign::After, path, after);
        }
    }
}

/// Adds a member that came or went: each of its own members, or the whole value if they are many.
fn push_member(changes: &mut Vec<FieldChange>, sign: Sign, path: &str, value: &Value) {
    let mut leaves = Vec::new();
    if collect_leaves(&mut leaves, path, value) {
        for (path, leaf) in leaves {
            push(changes, sign, &path, leaf);
        }
    } else {
        push(changes, sign, path, value);
    }
}

fn push(changes: &mut Vec<FieldChange>, sign: Sign, path: &str, value: &Value) {
    let text = if path.is_empty() { written(value) } else { format!("{path}: {}", written(value)) };
    changes.push(FieldChange { sign, text });
}

/// A value as JSON; of a long one its start.
fn written(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > VALUE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(VALUE_BYTES_MAX));
        text.push('…');
    }
    text
}

/// Collects the members of a value without members of their own. Returns `false` if they are too many to be shown.
fn collect_leaves<'v>(leaves: &mut Vec<(String, &'v Value)>, path: &str, value: &'v Value) -> bool {
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().all(|(key, value)| collect_leaves(leaves, &joined(path, key), value))
        }
        Value::Array(elements) if !elements.is_empty() => {
            let mut elements = elements.iter().enumerate();
            elements.all(|(index, value)| collect_leaves(leaves, &joined(path, &index.to_string()), value))
        }
        leaf => {
            leaves.push((path.to_owned(), leaf));
            leaves.len() <= MEMBERS_MAX
        }
    }
}

/// The members of a block that its row does not show.
pub(crate) fn hidden_members(sign: Sign, block: &[u8], preview: &str) -> Vec<FieldChange> {
    let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(block) else { return Vec::new() };
    let mut changes = Vec::new();
    for (key, value) in members.iter().filter(|(key, _)| !KINDS.contains(&key.as_str())) {
        push_member(&mut changes, sign, key, value);
    }
    changes.retain(|change| !is_shown(&change.text, Some(preview)));
    changes
}

/// The members that the column of the kind or the role shows.
const KINDS: [&str; 3] = ["index", "role", "type"];

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Both texts around their first difference.
fn around(before: &[u8], after: &[u8]) -> Vec<FieldChange> {
    let same = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let shown = |bytes: &[u8]| {
        let start = same.saturating_sub(AROUND_BYTES / 2);
        let end = bytes.len().min(same + AROUND_BYTES);
        format!("…{}…", String::from_utf8_lossy(bytes.get(start..end).unwrap_or_default()))
    };
    let change = |sign, bytes| FieldChange { sign, text: shown(bytes) };
    if before == after { Vec::new() } else { vec![change(Sign::Before, before), change(Sign::After, after)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn differ(before: &str, after: &str, expected: &[(Sign, &str)]) {
        let found = changes(before.as_bytes(), after.as_bytes());
        let found: Vec<_> = found.iter().map(|change| (change.sign, change.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn members_that_came_and_went_are_named() {
        differ(
            r#"{"a":1,"b":{"c":[1,2]}}"#,
            r#"{"a":1,"b":{"c":[1,3]},"d":"x"}"#,
            &[(Sign::Before, "b.c.1: 2"), (Sign::After, "b.c.1: 3"), (Sign::After, r#"d: "x""#)],
        );
        differ(r#"{"a":1}"#, "{}", &[(Sign::Before, "a: 1")]);
        differ("{}", "{}", &[]);
    }

    #[test]
    fn a_small_value_is_shown_member_by_member() {
        let after = r#"{"tools":[{"name":"run","schema":{"type":"object"}}]}"#;
        differ(
            "{}",
            after,
            &[(Sign::After, r#"tools.0.name: "run""#), (Sign::After, r#"tools.0.schema.type: "object""#)],
        );
        let members: Vec<String> = (0..=MEMBERS_MAX).map(|at| format!("\"m{at:02}\":1")).collect();
        let large = format!("{{{}}}", members.join(","));
        differ("{}", &format!("{{\"a\":{large}}}"), &[(Sign::After, &format!("a: {large}"))]);
    }

    #[test]
    fn a_block_shows_the_members_that_its_row_leaves_out() {
        let block = br#"{"toolResult":{"toolUseId":"a","content":[{"text":"x"}],"status":"error"}}"#;
        let members = hidden_members(Sign::After, block, "x");
        assert_eq!(members, [FieldChange { sign: Sign::After, text: r#"toolResult.status: "error""#.to_owned() }]);
    }

    #[test]
    fn every_difference_is_shown() {
        let members: Vec<String> = (0..100).map(|at| format!("\"m{at}\":1")).collect();
        assert_eq!(changes(format!("{{{}}}", members.join(",")).as_bytes(), b"{}").len(), 100);
    }

    #[test]
    fn texts_that_mean_the_same_are_shown_by_their_bytes() {
        differ(
            r#"{"a":1,"a":2}"#,
            r#"{"a":2}"#,
            &[(Sign::Before, r#"…{"a":1,"a":2}…"#), (Sign::After, r#"…{"a":2}…"#)],
        );
    }

    #[test]
    fn the_blocks_of_a_message_are_not_its_members() {
        let changes = message_changes(
            br#"{"role":"assistant","content":"x","thinking":"y"}"#,
            br#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#,
        );
        assert_eq!(changes, [FieldChange { sign: Sign::Before, text: r#"thinking: "y""#.to_owned() }]);
    }
}
