//! The start of what a block says, for people. It is cut out of the source by its looks,
//! so it may be cut anywhere and no decision may rest on it.

use std::borrow::Cow;

use seamline_model::{Block, BlockKind, Transcript};

/// The start of what a block says, white space folded; of its source the first
/// `bytes_max` are looked at.
pub(crate) fn preview(transcript: &Transcript<'_>, block: &Block, bytes_max: usize) -> String {
    let span = match &block.kind {
        BlockKind::Result(result) if !result.content.is_empty() => result.content,
        _ => block.span,
    };
    let source = transcript.text(span);
    let head = &source[..source.floor_char_boundary(bytes_max)];
    let text = match &block.kind {
        BlockKind::Text(_) | BlockKind::Result(_) | BlockKind::ServerResult(_) => spoken(head),
        BlockKind::Call(_) | BlockKind::ServerCall(_) => said_in(head, &["input", "arguments", "args"]),
        BlockKind::Reasoning { .. } => said_in(head, &["thinking", "reasoning_content", "text"]),
        BlockKind::Media | BlockKind::Opaque => said_in(head, &["type"]),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a string says, or the first text in anything else.
fn spoken(source: &str) -> Cow<'_, str> {
    let source = source.trim_start();
    if source.starts_with('"') {
        return seamline_dialects::said(source);
    }
    match said_in(source, &["text", "refusal", "content"]) {
        said if said.is_empty() => Cow::Borrowed(source),
        said => said,
    }
}

/// What the value of the first of `keys` that occurs says; nothing when none does.
fn said_in<'s>(source: &'s str, keys: &[&str]) -> Cow<'s, str> {
    let value = keys.iter().find_map(|key| value_of(source, key));
    match value {
        Some(value) if value.starts_with('"') => seamline_dialects::said(value),
        Some(value) => whole(value).into(),
        None => "".into(),
    }
}

/// What follows `"key":`.
fn value_of<'s>(source: &'s str, key: &str) -> Option<&'s str> {
    let quoted = format!("\"{key}\"");
    source.match_indices(&quoted).find_map(|(at, _)| {
        let rest = source[at + quoted.len()..].trim_start();
        rest.strip_prefix(':').map(str::trim_start)
    })
}

/// A value up to where its brackets close.
fn whole(value: &str) -> &str {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return &value[..at],
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return &value[..=at];
                }
            }
            _ => {}
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_shows_its_input_wherever_it_stands() {
        for source in [r#"{"input":{"a":"}\""},"name":"x"}"#, r#"{"name":"x", "input" : {"a":"}\""}}"#] {
            assert_eq!(said_in(source, &["input"]), r#"{"a":"}\""}"#);
        }
        let source = r#"{"function":{"name":"x","arguments":"{\"a\":1}"}}"#;
        assert_eq!(said_in(source, &["input", "arguments"]), r#"{"a":1}"#);
    }

    #[test]
    fn the_kind_of_a_block_is_not_taken_for_what_it_says() {
        let block = r#"{"type": "text", "text": "a \"b\""}"#;
        assert_eq!(spoken(block), r#"a "b""#);
        assert_eq!(spoken(&format!("[{block}]")), r#"a "b""#);
        assert_eq!(spoken(r#" "plain""#), "plain");
        assert_eq!(spoken("[]"), "[]");
    }

    #[test]
    fn a_source_cut_anywhere_shows_what_is_there() {
        let source = r#"{"name":"x","input":{"a":["b",{"c":null}]},"id":1}"#;
        for end in 0..source.len() {
            let _ = said_in(&source[..end], &["input"]);
        }
        assert_eq!(said_in(r#"{"input":{"a":"#, &["input"]), r#"{"a":"#);
    }
}
