//! Whether the text of a call's input holds JSON.

use seamline_model::Input;

use crate::json::{Document, Value};

/// How deep arguments may be nested for a quick look to suffice.
const DEPTH_MAX: u32 = 64;

/// How the input of a call is written that should be a string that holds JSON.
pub(crate) fn text_input(value: Value<'_, '_>) -> Input {
    let raw = value.raw_str();
    if is_closed(raw.as_bytes()) {
        return Input::Text;
    }
    let text = value.str().unwrap_or_default();
    match text.trim() {
        "" => Input::EmptyText,
        text if Document::read(text).is_ok() => Input::Text,
        _ => Input::BrokenText,
    }
}

/// Whether the source of a string, with its escapes, reads like an object that is complete:
/// every bracket and every text in it is closed, and nothing follows. Almost all arguments
/// do, so they need not be read as JSON.
fn is_closed(raw: &[u8]) -> bool {
    // One bit for each open bracket: whether it is that of a list.
    let (mut lists, mut depth) = (0_u64, 0_u32);
    let mut inside = false;
    let mut at = 0;
    while at < raw.len() {
        let (byte, width) = match (raw[at], raw.get(at + 1)) {
            (b'\\', Some(b'"')) => (b'"', 2),
            // A backslash of the arguments themselves, and what it stands before.
            (b'\\', Some(b'\\')) if inside => (b'a', if raw.get(at + 2) == Some(&b'\\') { 4 } else { 3 }),
            (b'\\', Some(b'n' | b'r' | b't')) => (b' ', 2),
            (b'\\', _) if inside => (b'a', 2),
            (b'\\', _) => return false,
            (byte, _) => (byte, 1),
        };
        at += width;
        match byte {
            b'"' => inside = !inside,
            _ if inside => {}
            b'{' | b'[' if depth < DEPTH_MAX => {
                lists = lists << 1 | u64::from(byte == b'[');
                depth += 1;
            }
            b'}' | b']' if depth > 0 && (lists & 1 == 1) == (byte == b']') => {
                lists >>= 1;
                depth -= 1;
                if depth == 0 {
                    return byte == b'}' && raw[at..].iter().all(u8::is_ascii_whitespace);
                }
            }
            b',' | b':' | b' ' | b'-' | b'+' | b'.' if depth > 0 => {}
            byte if depth > 0 && byte.is_ascii_alphanumeric() => {}
            b' ' => {}
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(arguments: &str) -> Input {
        let body = crate::json::quoted(arguments);
        let document = Document::read(&body).unwrap();
        text_input(document.root())
    }

    #[test]
    fn complete_arguments_are_text() {
        for arguments in [
            "{}",
            " {\n} ",
            r#"{"path": "a\"b\\", "n": [1, -2.5e+3, {"deep": null}], "ok": true}"#,
            r#"{"regex": "\\d{2}\\\""}"#,
            r#"{"text": "\u00e9 { [ \n"}"#,
            "[1]",
            "7",
            r#""words""#,
        ] {
            assert_eq!(input(arguments), Input::Text, "{arguments}");
        }
    }

    #[test]
    fn what_was_cut_off_is_broken() {
        let whole = r#"{"path": "a\"b\\", "n": [1, {"deep": "\\\""}]}"#;
        for end in whole.char_indices().map(|(at, _)| at).skip(1) {
            assert_eq!(input(&whole[..end]), Input::BrokenText, "{}", &whole[..end]);
        }
        for arguments in ["{]", "{}}", "{} {}", "ls -la", "{'a': 1}"] {
            assert_eq!(input(arguments), Input::BrokenText, "{arguments}");
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!([input(""), input(" \n")], [Input::EmptyText; 2]);
    }
}
