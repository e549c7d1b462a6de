//! Previews: the start of a block's text, for people. A preview is cut from the source without parsing, so it may end
//! anywhere. No decision may depend on it.

use std::borrow::Cow;

use seamline_model::{Block, BlockKind, Transcript};

/// The start of a block's text, with white space folded. Uses the first `bytes_max` bytes of the source.
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

/// The content of a string, or the first text in any other value.
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

/// The value of the first of `keys` that occurs; empty if none occurs.
fn said_in<'s>(source: &'s str, keys: &[&str]) -> Cow<'s, str> {
    let value = keys.iter().find_map(|key| value_of(source, key));
    match value {
        Some(value) if value.starts_with('"') => seamline_dialects::said(value),
        Some(value) => whole(value).into(),
        None => "".into(),
    }
}

/// The text after `"key":`.
fn value_of<'s>(source: &'s str, key: &str) -> Option<&'s str> {
    let quoted = format!("\"{key}\"");
    source.match_indices(&quoted).find_map(|(at, _)| {
        let rest = source[at + quoted.len()..].trim_start();
        rest.strip_prefix(':').map(str::trim_start)
    })
}

/// A value up to its closing bracket.
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
    fn a_call_shows_its_input_at_any_place() {
        for source in [r#"{"input":{"a":"}\""},"name":"x"}"#, r#"{"name":"x", "input" : {"a":"}\""}}"#] {
            assert_eq!(said_in(source, &["input"]), r#"{"a":"}\""}"#);
        }
        let source = r#"{"function":{"name":"x","arguments":"{\"a\":1}"}}"#;
        assert_eq!(said_in(source, &["input", "arguments"]), r#"{"a":1}"#);
    }

    #[test]
    fn the_kind_of_a_block_is_not_its_text() {
        let block = r#"{"type": "text", "text": "a \"b\""}"#;
        assert_eq!(spoken(block), r#"a "b""#);
        assert_eq!(spoken(&format!("[{block}]")), r#"a "b""#);
        assert_eq!(spoken(r#" "plain""#), "plain");
        assert_eq!(spoken("[]"), "[]");
    }

    #[test]
    fn a_cut_source_shows_its_readable_part() {
        let source = r#"{"name":"x","input":{"a":["b",{"c":null}]},"id":1}"#;
        for end in 0..source.len() {
            let _ = said_in(&source[..end], &["input"]);
        }
        assert_eq!(said_in(r#"{"input":{"a":"#, &["input"]), r#"{"a":"#);
    }
}
