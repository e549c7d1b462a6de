//! JSON as programs let their users write it: with comments and trailing commas.

use serde_json::Value;

/// Reads JSON with comments and trailing commas. Returns `null` for text that is not JSON.
pub(super) fn parse(text: &str) -> Value {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain(text))).unwrap_or_default()
}

/// Replaces comments and trailing commas by nothing. Strings stay as they are.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let length = match char {
            '"' => end_of_string(rest),
            '/' if rest.starts_with("//") => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            '}' | ']' => {
                let kept = out.trim_end().len();
                if out[..kept].ends_with(',') {
                    out.truncate(kept - 1);
                }
                1
            }
            char => char.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// The length of the string that a text starts with, with its quotes.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let is_end = |(_, char): &(usize, char)| {
        let is_end = *char == '"' && !is_escaped;
        is_escaped = *char == '\\' && !is_escaped;
        is_end
    };
    text.char_indices().skip(1).find(is_end).map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_read() {
        let text = "// a\n{ /* b */ \"url\": \"http://x//y\", \"list\": [1, 2, ], \"é\\\"//\": \"/* \\\\\", // c\n}";
        assert_eq!(parse(text), json!({"url": "http://x//y", "list": [1, 2], "é\"//": "/* \\"}));
        assert_eq!(parse("{"), Value::Null);
        assert_eq!(parse("{\"a\": \"b"), Value::Null);
    }
}
