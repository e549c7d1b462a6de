//! Rust text as tokens, as far as names in it need it.

use std::iter::Peekable;
use std::str::Chars;

use crate::source;

/// A token of a Rust file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// The content of a string.
    Text(String),
    /// An identifier, a keyword or a number.
    Word(String),
    /// Any other character.
    Mark(char),
}

/// The tokens of a file outside of its tests and comments.
pub(super) fn tokens(file: &str) -> Vec<Token> {
    let lines: Vec<&str> = source::code(file).into_iter().map(|(_, line)| line).collect();
    let code = lines.join("\n");
    let mut rest = code.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(next) = rest.next() {
        match next {
            '"' => tokens.push(Token::Text(quoted(&mut rest))),
            '\'' => skip_character(&mut rest),
            _ if next.is_alphanumeric() || next == '_' => {
                let word = word(next, &mut rest);
                match raw_text(&word, &mut rest) {
                    Some(text) => tokens.push(Token::Text(text)),
                    // The mark of a string of bytes.
                    None if word == "b" && rest.peek() == Some(&'"') => {}
                    None => tokens.push(Token::Word(word)),
                }
            }
            _ if next.is_whitespace() => {}
            mark => tokens.push(Token::Mark(mark)),
        }
    }
    tokens
}

fn word(first: char, rest: &mut Peekable<Chars<'_>>) -> String {
    let mut word = String::from(first);
    while let Some(next) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
        word.push(next);
    }
    word
}

/// The text of a string after its first quotation mark.
fn quoted(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(next) = rest.next() {
        match next {
            '"' => break,
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                // A line that goes on with the next one.
                Some('\n') => while rest.next_if(|c| c.is_whitespace()).is_some() {},
                Some(escaped) => text.push(escaped),
                None => break,
            },
            _ => text.push(next),
        }
    }
    text
}

/// The text of a raw string, if the word begins one.
fn raw_text(word: &str, rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    if !matches!(word, "r" | "br") || !matches!(rest.peek(), Some('"' | '#')) {
        return None;
    }
    let mut end = String::from('"');
    while rest.next_if_eq(&'#').is_some() {
        end.push('#');
    }
    rest.next_if_eq(&'"')?;
    let mut text = String::new();
    for next in rest.by_ref() {
        text.push(next);
        if text.ends_with(&end) {
            text.truncate(text.len() - end.len());
            break;
        }
    }
    Some(text)
}

/// Skips the rest of a character such as `'"'`. A lifetime has no mark that could be mistaken, and stays.
fn skip_character(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    let length = if ahead.next() == Some('\\') { 2 } else { 1 };
    if ahead.nth(length - 1) == Some('\'') {
        for _ in 0..=length {
            rest.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str) -> Vec<String> {
        tokens(file)
            .into_iter()
            .filter_map(|token| match token {
                Token::Text(text) => Some(text),
                Token::Word(_) | Token::Mark(_) => None,
            })
            .collect()
    }

    #[test]
    fn strings_are_found_in_every_spelling() {
        let file = concat!(
            "const A: &str = \"a\"; // \"comment\"\n",
            "fn b<'a>(c: char) { if c == '\"' || c == '\\'' { say(r#\"b \"c\"\"#, b\"d\", \"e\\\"f\") } }\n",
            "#[cfg(test)]\nmod tests {\n    const G: &str = \"g\";\n}\n",
        );
        assert_eq!(texts(file), ["a", "b \"c\"", "d", "e\"f"]);
    }

    #[test]
    fn a_string_goes_on_in_the_next_line() {
        assert_eq!(texts("const A: &str = \"one \\\n    two\";\n"), ["one two"]);
    }

    #[test]
    fn words_and_marks_are_kept_in_order() {
        assert_eq!(
            tokens("x.ends_with(\"y\")"),
            [
                Token::Word("x".to_owned()),
                Token::Mark('.'),
                Token::Word("ends_with".to_owned()),
                Token::Mark('('),
                Token::Text("y".to_owned()),
                Token::Mark(')'),
            ]
        );
    }
}
