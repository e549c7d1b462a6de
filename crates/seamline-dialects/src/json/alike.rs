//! Texts that differ from the one before in a few strings and numbers.
//!
//! The events of a stream have the same form: one differs from the one before in a piece of text, and perhaps in a
//! number. Comparing with the one before and reading only the differences is faster than reading all of it.

use seamline_model::Span;

use super::plain::string_prefix;
use super::scan::{Document, Node, read_into};
use super::syntax::Syntax;
use super::view::Kind;

/// The largest text that is kept for comparison. Longer ones are seldom alike.
const KEPT_BYTES_MAX: usize = 4096;

/// The number of values that may differ. With more, reading is faster than comparing.
const DIFFERENT_MAX: usize = 4;

/// The text that was read last.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    text: String,
    /// Its values. They are empty while lent out, or if there is no text to compare with.
    nodes: Vec<Node>,
}

impl Alike {
    /// Reads a text as [`Document::read`] does, faster if it is like the last one.
    pub(crate) fn read<'a>(&mut self, text: &'a str) -> Result<Document<'a>, Syntax> {
        let mut nodes = std::mem::take(&mut self.nodes);
        if !nodes.is_empty() && adapt(&mut nodes, self.text.as_bytes(), text.as_bytes()).is_some() {
            return Ok(Document::of_nodes(text, nodes));
        }
        nodes.clear();
        read_into(text, nodes)
    }

    /// Keeps the values for the next text.
    pub(crate) fn keep(&mut self, document: Document<'_>) {
        let is_plain = document.lone_surrogates.is_empty() && document.byte_order_mark.is_none();
        if is_plain && document.text.len() <= KEPT_BYTES_MAX {
            self.text.clear();
            self.text.push_str(document.text);
            self.nodes = document.nodes;
        }
    }
}

/// Turns the values of one text into those of another that differs in a few strings and numbers. Returns nothing if it
/// differs in more.
///
/// While this goes on, the values are those of the new text as far as it was compared, and of the
/// old one behind that.
fn adapt(nodes: &mut [Node], mut old: &[u8], new: &[u8]) -> Option<()> {
    let (mut at, mut first) = (0, 0);
    for _ in 0..=DIFFERENT_MAX {
        let same = same_bytes(old, &new[at..]);
        if same == old.len() && at + same == new.len() {
            return Some(());
        }
        let place = (at + same) as u32;
        first += nodes[first..].iter().take_while(|node| node.start <= place).count();
        let node = nodes.get_mut(first.checked_sub(1)?)?;
        let (before, start) = (Span { start: node.start, end: node.end }, node.start as usize);
        if start < at {
            return None;
        }
        node.end = end(node, place, new)? as u32;
        let after = node.end;
        old = &old[before.end as usize - at..];
        at = after as usize;
        move_behind(nodes, first, before, after);
    }
    None
}

/// The end of a value in the new text. The old text has a value at the same place, and both differ up to its end.
fn end(node: &mut Node, place: u32, new: &[u8]) -> Option<usize> {
    let start = node.start as usize;
    match node.kind {
        Kind::String if node.start < place && place < node.end => {
            let (length, escaped) = string_prefix(&new[start + 1..]);
            node.escaped = escaped;
            let end = start + 1 + length;
            (new.get(end) == Some(&b'"')).then_some(end + 1)
        }
        Kind::Number if place <= node.end => {
            let digits = new[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_number = digits == 1 || digits > 1 && new[start] != b'0';
            is_number.then_some(start + digits)
        }
        _ => None,
    }
}

/// Moves the values after a value whose end changed, and the ends of those around it. `first` is the value after it.
fn move_behind(nodes: &mut [Node], first: usize, before: Span, after: u32) {
    let by = after.wrapping_sub(before.end);
    if by == 0 {
        return;
    }
    let (around, behind) = nodes.split_at_mut(first);
    for node in around.iter_mut().rev().skip(1).filter(|node| node.end > before.start) {
        node.end = node.end.wrapping_add(by);
    }
    for node in behind {
        node.start = node.start.wrapping_add(by);
        node.end = node.end.wrapping_add(by);
    }
}

/// The length of the common prefix of two texts.
fn same_bytes(one: &[u8], other: &[u8]) -> usize {
    let (ones, others) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
    for (index, (one, other)) in ones.iter().zip(others).enumerate() {
        let differ = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if differ != 0 {
            return index * 8 + differ.trailing_zeros() as usize / 8;
        }
    }
    let same = ones.len().min(others.len()) * 8;
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads texts one after the other, and each by itself.
    fn check(texts: &[&str]) {
        let mut alike = Alike::default();
        for text in texts {
            check_with(&mut alike, text);
        }
    }

    fn check_with(alike: &mut Alike, text: &str) {
        match (alike.read(text), Document::read(text)) {
            (Ok(read), Ok(wanted)) => {
                assert_eq!(read.nodes, wanted.nodes, "{text}");
                assert_eq!((read.bytes, read.text, read.text_start), (wanted.bytes, wanted.text, wanted.text_start));
                assert_eq!(read.lone_surrogates, wanted.lone_surrogates, "{text}");
                assert_eq!(read.byte_order_mark, wanted.byte_order_mark, "{text}");
                alike.keep(read);
            }
            (read, wanted) => assert_eq!(read.err(), wanted.err(), "{text}"),
        }
    }

    /// Whether a text was taken for one like another.
    fn is_alike(one: &str, other: &str) -> bool {
        let mut nodes = Document::read(one).unwrap().nodes;
        adapt(&mut nodes, one.as_bytes(), other.as_bytes()).is_some()
    }

    #[test]
    fn frames_that_differ_in_texts_and_numbers_are_alike() {
        let one = r#"{"id":"a","n":9,"choices":[{"index":0,"delta":{"content":"Hel"}}],"usage":null}"#;
        for (other, wanted) in [
            (r#"{"id":"a","n":9,"choices":[{"index":0,"delta":{"content":"Hel"}}],"usage":null}"#, true),
            (r#"{"id":"a","n":9,"choices":[{"index":0,"delta":{"content":""}}],"usage":null}"#, true),
            (r#"{"id":"a","n":9,"choices":[{"index":0,"delta":{"content":"Hel\"\n"}}],"usage":null}"#, true),
            (r#"{"id":"a","n":10,"choices":[{"index":0,"delta":{"content":"lo"}}],"usage":null}"#, true),
            (r#"{"id":"","n":0,"choices":[{"index":10,"delta":{"content":"lo"}}],"usage":null}"#, true),
            (r#"{"id":"a","n":9,"choices":[{"index":0,"delta":{"reasoning":"lo"}}],"usage":null}"#, true),
            (r#"{"id":"a","n":9,"choices":[{"index":0,"delta":{"content":"lo"}}],"usage":{}}"#, false),
            (r#"{"id":"a","n":9,"choices":[{"index":0,"delta":{"content":null}}],"usage":null}"#, false),
            (r#"{"id":"a","n":9.5,"choices":[{"index":0,"delta":{"content":"lo"}}],"usage":null}"#, false),
            (r#"{"id":"a","n":9,"choices":[{"index":0,"delta":{"content":"\u00e4"}}],"usage":null}"#, false),
        ] {
            assert_eq!(is_alike(one, other), wanted, "{other}");
            check(&[one, other, one, other]);
        }
    }

    #[test]
    fn text_other_than_json_is_not_alike() {
        let one = r#"{"a":"x","b":[12,"y"]}"#;
        for other in [
            r#"{"a":"x","b":[012,"y"]}"#,
            r#"{"a":"x","b":[1 2,"y"]}"#,
            r#"{"a":"x","b":[,"y"]}"#,
            r#"{"a":"x","b":[12,"y"]"#,
            r#"{"a":"x","b":[12,"y"]}}"#,
            r#"{"a":"x","b":[12,"y]}"#,
            r#"{"a":"\x","b":[12,"y"]}"#,
            "{\"a\":\"\n\",\"b\":[12,\"y\"]}",
            r#"{"a":"x"z","b":[12,"y"]}"#,
            "",
        ] {
            check(&[one, other, one, other]);
        }
    }

    /// Values that differ from each other in all ways, and look alike in many.
    const VALUES: [&str; 26] = [
        "\"\"",
        "\"a\"",
        "\"ab\"",
        "\"a\\\"\"",
        "\"a\\\\\"",
        "\"\\u0041\"",
        "\"\\ud83d\"",
        "\"ä\"",
        "\"1,2\"",
        "0",
        "1",
        "12",
        "120",
        "-1",
        "1.5",
        "1e3",
        "01",
        "null",
        "true",
        "{}",
        "[]",
        "[1]",
        "",
        "x",
        "\"",
        "\"a",
    ];

    #[test]
    fn it_reads_what_a_reader_reads() {
        let texts = VALUES.map(|one| VALUES.map(|other| format!(r#"{{"a":[{one},{{"b":{other}}}],"c":7}}"#)));
        for one in texts.iter().flatten() {
            let kept = Document::read(one).ok();
            for other in texts.iter().flatten() {
                let mut alike = Alike::default();
                if let Some(kept) = &kept {
                    alike.keep(kept.clone());
                }
                check_with(&mut alike, other);
            }
        }
    }
}
