//! Tests whether the text of a call's input holds JSON.

use seamline_model::Input;

use crate::json::{Document, Kind, Value};

/// The nesting depth up to which the fast test works.
const DEPTH_MAX: u32 = 64;

/// Finds out in which form an input is written that should be a string with JSON.
pub(crate) fn text_input(value: Value<'_, '_>) -> Input {
    let raw = value.raw_str();
    if is_object(raw.as_bytes()) {
        return Input::Text;
    }
    let text = value.str().unwrap_or_default();
    if text.trim().is_empty() {
        return Input::EmptyText;
    }
    match Document::read(&text) {
        Ok(document) if document.root().kind() == Kind::Object => Input::Text,
        Ok(_) => Input::ValueText,
        Err(_) => Input::BrokenText,
    }
}

/// The tokens that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// Whether the source of a string, with its escapes, holds a JSON object and nothing else.
/// Almost all arguments do, so they need not be parsed. The test does not know unusual spellings, so `false` means
/// nothing.
fn is_object(raw: &[u8]) -> bool {
    // One bit for each open bracket: whether it is that of a list.
    let (mut lists, mut depth) = (0_u64, 0_u32);
    let mut expect = Expect::Value;
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        let value = matches!(expect, Expect::Value | Expect::ValueOrEnd);
        let after = match (byte, raw.get(at + 1)) {
            (b' ', _) => Some(at + 1),
            (b'\\', Some(b'n' | b'r' | b't')) => Some(at + 2),
            (b'\\', Some(b'"')) if depth > 0 => {
                expect = match expect {
                    Expect::Value | Expect::ValueOrEnd => Expect::CommaOrEnd,
                    Expect::Key | Expect::KeyOrEnd => Expect::Colon,
                    Expect::Colon | Expect::CommaOrEnd => return false,
                };
                string_end(raw, at + 2)
            }
            (b':', _) if expect == Expect::Colon => {
                expect = Expect::Value;
                Some(at + 1)
            }
            (b',', _) if expect == Expect::CommaOrEnd => {
                expect = if lists & 1 == 1 { Expect::Value } else { Expect::Key };
                Some(at + 1)
            }
            (b'{' | b'[', _) if value && depth < DEPTH_MAX => {
                lists = lists << 1 | u64::from(byte == b'[');
                depth += 1;
                expect = if byte == b'[' { Expect::ValueOrEnd } else { Expect::KeyOrEnd };
                Some(at + 1)
            }
            (b'}' | b']', _) if closes(expect, byte) && (lists & 1 == 1) == (byte == b']') => {
                lists >>= 1;
                depth -= 1;
                if depth == 0 {
                    return byte == b'}' && raw[at + 1..].iter().all(|byte| *byte == b' ');
                }
                expect = Expect::CommaOrEnd;
                Some(at + 1)
            }
            _ if value && depth > 0 => {
                expect = Expect::CommaOrEnd;
                scalar_end(raw, at)
            }
            _ => None,
        };
        match after {
            Some(after) => at = after,
            None => return false,
        }
    }
    false
}

/// Whether a bracket may close the open object or list.
fn closes(expect: Expect, byte: u8) -> bool {
    match expect {
        Expect::CommaOrEnd => true,
        Expect::KeyOrEnd => byte == b'}',
        Expect::ValueOrEnd => byte == b']',
        Expect::Value | Expect::Key | Expect::Colon => false,
    }
}

/// The place after a string of the arguments that begins before `at`; nothing for one that
/// has no end or is written in an unusual way.
fn string_end(raw: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += raw.get(at..)?.iter().position(|byte| *byte == b'\\')?;
        at += match (raw.get(at + 1)?, raw.get(at + 2)) {
            (b'"', _) => return Some(at + 2),
            // A backslash of the arguments themselves, with the character it escapes.
            (b'\\', Some(b'n' | b't' | b'r' | b'b' | b'f' | b'/')) => 3,
            (b'\\', Some(b'\\')) if matches!(raw.get(at + 3), Some(b'"' | b'\\')) => 4,
            (b'\\', Some(b'u')) => 3 + hex_digits(raw, at + 3)?,
            (b'/', _) => 2,
            // A character outside ASCII, which is not a token of JSON.
            (b'u', Some(_)) if !is_ascii_escape(&raw[at + 2..]) => 2 + hex_digits(raw, at + 2)?,
            _ => return None,
        };
    }
}

/// Whether the digits of an escape are those of an ASCII character.
fn is_ascii_escape(digits: &[u8]) -> bool {
    digits.starts_with(b"00") && digits.get(2).is_none_or(|digit| *digit < b'8')
}

/// The length of four hexadecimal digits, if there are four.
fn hex_digits(raw: &[u8], at: usize) -> Option<usize> {
    raw.get(at..at + 4)?.iter().all(u8::is_ascii_hexdigit).then_some(4)
}

/// The place after a number or a word.
fn scalar_end(raw: &[u8], at: usize) -> Option<usize> {
    let rest = &raw[at..];
    let word = [b"true".as_slice(), b"false", b"null"].into_iter().find(|word| rest.starts_with(word));
    word.map(|word| at + word.len()).or_else(|| number_end(raw, at))
}

/// The place after a number.
fn number_end(raw: &[u8], start: usize) -> Option<usize> {
    let digits = |at: usize| at + raw[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let some_digits = |at: usize| Some(digits(at)).filter(|end| *end > at);
    let start = start + usize::from(raw[start] == b'-');
    let mut at = match raw.get(start) {
        Some(b'0') => start + 1,
        _ => some_digits(start)?,
    };
    if raw.get(at) == Some(&b'.') {
        at = some_digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = raw.get(at) {
        at += 1;
        at = some_digits(at + usize::from(matches!(raw.get(at), Some(b'+' | b'-'))))?;
    }
    Some(at)
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
        ] {
            assert_eq!(input(arguments), Input::Text, "{arguments}");
        }
    }

    #[test]
    fn json_other_than_an_object_is_told_apart() {
        for arguments in ["[1]", "7", "null", " true", r#""words""#, r#""{\"path\":\"a\"}""#] {
            assert_eq!(input(arguments), Input::ValueText, "{arguments}");
        }
    }

    #[test]
    fn arguments_that_were_cut_off_are_broken() {
        let whole = r#"{"path": "a\"b\\", "n": [1, {"deep": "\\\""}]}"#;
        for end in whole.char_indices().map(|(at, _)| at).skip(1) {
            assert_eq!(input(&whole[..end]), Input::BrokenText, "{}", &whole[..end]);
        }
    }

    #[test]
    fn text_that_only_looks_like_json_is_broken() {
        for arguments in [
            "{]",
            "{}}",
            "{} {}",
            "ls -la",
            "{'a': 1}",
            "{a:1}",
            r#"{"a":1,}"#,
            r#"{"path": foo}"#,
            r#"{"a":01}"#,
            r#"{"a":,}"#,
            "{1 2 3}",
            r#"{"ok": True}"#,
            r#"{"a" 1}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":"\d"}"#,
            r#"{"a":"\u12"}"#,
            "{\"a\":\"two\nlines\"}",
            r#"{"a":+1}"#,
            r#"{"a":1.}"#,
            r#"{"a":1e}"#,
            r#"{"a":-}"#,
            r#"{"a":nulls}"#,
            "\u{a0}{}",
        ] {
            assert_eq!(input(arguments), Input::BrokenText, "{arguments}");
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!([input(""), input(" \n")], [Input::EmptyText; 2]);
    }

    #[test]
    fn a_sign_of_json_may_be_escaped() {
        for (body, expected) in [
            (r#""\u007b\u0022a\u0022:1}""#, Input::Text),
            (r#""{\"a\":\"\u0022x}""#, Input::BrokenText),
            (r#""{\"a\":\"\u00e9\ud83d\ude00\"}""#, Input::Text),
        ] {
            let document = Document::read(body).unwrap();
            assert_eq!(text_input(document.root()), expected, "{body}");
        }
    }

    /// The quick look accepts only objects, also in mutated text, and accepts every object in the usual form.
    #[test]
    fn the_quick_look_agrees_with_the_reader_on_mutated_json() {
        const SEEDS: &[&str] = &[
            r#"{"path": "a\"b\\", "n": [1, -2.5e+3, {"deep": null}], "ok": true, "no": false}"#,
            r#"{"a":{"b":[[],{},[{}]],"c":0},"d":"\u00e9\n","e":[0,10,-0.1E-7]}"#,
            "{}",
            r#"{"text":"{[,:\"]}","é":"→"}"#,
        ];
        const PIECES: &[&str] = &[
            "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\n", "0", "1", "-", "+", ".", "e", "E", "t", "true",
            "null", "f", "u", "u00e9", "\\u12", "a", "\\n", "é", "'", "/", "\u{1}",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        for _ in 0..60_000 {
            let mut chars: Vec<char> = SEEDS[next(SEEDS.len())].chars().collect();
            for _ in 0..next(4) {
                let at = next(chars.len() + 1);
                let end = (at + next(3)).min(chars.len());
                let piece = if next(3) == 0 { "" } else { PIECES[next(PIECES.len())] };
                chars.splice(at..end, piece.chars());
            }
            let text: String = chars.into_iter().collect();
            let read = Document::read(&text);
            let expected = match &read {
                Ok(document) if document.root().kind() == Kind::Object => Input::Text,
                Ok(_) => Input::ValueText,
                Err(_) if text.trim().is_empty() => Input::EmptyText,
                Err(_) => Input::BrokenText,
            };
            assert_eq!(input(&text), expected, "{text}");
            let usual = expected == Input::Text && text.trim_end_matches(' ').ends_with('}');
            let quoted = crate::json::quoted(&text);
            assert_eq!(is_object(&quoted.as_bytes()[1..quoted.len() - 1]), usual, "{text}");
        }
    }
}
