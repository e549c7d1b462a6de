//! Extracts the provider's own sentence from its wrapping.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::patterns::compile;
use crate::views;

/// The most bytes of a sentence.
const EXCERPT_BYTES_MAX: usize = 4096;

/// The most strings that are searched; each may reach to the end of the text.
const OPENINGS_MAX: usize = 8;

/// Matches the start of a string with a provider's sentence: key, colon, quote. Inside another string the quotes have
/// backslashes.
static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r#"["'](?:message|Message|msg|detail|error|error_message|errorMessage|raw|reason|description)\\*["'] ?: ?(\\*["'])"#,
    )
});

/// Returns the string around a position of a view, or the whole view.
pub(crate) fn around(view: &str, at: usize) -> String {
    let opening = openings(view).take_while(|(_, start)| *start <= at).last();
    said(view, opening)
}

/// Returns the innermost string that `says_it` accepts.
pub(crate) fn holding(view: &str, says_it: impl Fn(&str) -> bool) -> Option<String> {
    let openings: Vec<_> = openings(view).collect();
    let last = openings.into_iter().rev().take(OPENINGS_MAX);
    last.map(|opening| said(view, Some(opening))).find(|said| says_it(said))
}

/// Returns the innermost string, or the whole view. The wrapping of an error comes before it.
pub(crate) fn innermost(view: &str) -> String {
    said(view, openings(view).filter(|(quote, start)| !view[*start..].starts_with(quote)).last())
}

/// Finds the opening quotes of strings, with their escapes, and where each string starts.
fn openings(view: &str) -> impl Iterator<Item = (&str, usize)> {
    let found = OPENING.iter().flat_map(|regex| regex.captures_iter(view.as_bytes()));
    found.filter_map(|captures| captures.get(1)).map(|quote| (&view[quote.range()], quote.end()))
}

fn said(view: &str, opening: Option<(&str, usize)>) -> String {
    let text = match opening {
        Some((quote, start)) => &view[start..start + length(&view[start..], quote)],
        None => view,
    };
    cut(views::bare(text).trim()).to_owned()
}

/// Returns the length of a string: it ends at the next quote with the same escapes. Quotes inside have more escapes.
fn length(string: &str, quote: &str) -> usize {
    let escapes = quote.len() - 1;
    let closing = string.match_indices(&quote[escapes..]).map(|(at, _)| at).find(|&at| {
        let before = string.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        before == escapes
    });
    closing.map_or(string.len(), |at| at - escapes)
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(EXCERPT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn finds(view: &str) {
        let at = view.find("roles must").unwrap();
        assert_eq!(around(view, at), r#"messages: roles must alternate between "user" and it's fine"#);
    }

    #[test]
    fn the_sentence_is_extracted_from_any_wrapping() {
        finds(r#"messages: roles must alternate between "user" and it's fine"#);
        finds(r#"{"error":{"message":"messages: roles must alternate between \"user\" and it's fine","x":1}}"#);
        finds(r#"{'error': {'message': 'messages: roles must alternate between "user" and it\'s fine'}}"#);
        finds(
            r#"{"metadata":{"raw":"{\"message\":\"messages: roles must alternate between \\\"user\\\" and it's fine\"}"}}"#,
        );
        finds(
            r#"AnthropicException - b'{"message":"messages: roles must alternate between \\"user\\" and it\'s fine"}'"#,
        );
    }

    #[test]
    fn a_string_is_found_by_its_unescaped_text() {
        let view = r#"{"raw":"{\"message\":\"a \\\"user\\\" at messages[15].role\"}","message":"outer"}"#;
        let says = |word: &'static str| holding(view, move |said| said.contains(word));
        assert_eq!(says("a \"user\"").as_deref(), Some(r#"a "user" at messages[15].role"#));
        assert_eq!(says("outer").as_deref(), Some("outer"));
        assert_eq!(says("absent"), None);
    }

    #[test]
    fn an_unknown_error_is_quoted_from_the_inside() {
        assert_eq!(innermost(r#"{"message":"outer","raw":"{\"message\":\"inner\"}"}"#), "inner");
        assert_eq!(innermost(r#"{"message":"outer","raw":""}"#), "outer");
        assert_eq!(innermost("plain"), "plain");
    }

    #[test]
    fn a_string_without_an_end_goes_to_the_end() {
        assert_eq!(innermost(r#"{"message":"cut he"#), "cut he");
    }
}
