//! The end of a JSON text, read backwards: the last elements of its long list, and the members behind the list.
//!
//! A text is outside of strings at its end, so the quotes before it tell where strings are. The bytes may still not be
//! JSON; then the parts do not parse, and the reader of the whole text says why.

use memchr::memrchr;

/// The end of a text.
#[derive(Default)]
pub(crate) struct Tail<'a> {
    /// The members behind the list, each with its key, the last one first.
    pub(crate) members: Vec<&'a str>,
    /// The last elements of the list, the last one first.
    pub(crate) elements: Vec<&'a str>,
}

/// Reads the end of a text whose long list was read up to `from`, with at most so many elements of the list.
/// `is_element` tells the elements of that list from those of the lists behind it.
pub(crate) fn tail(bytes: &[u8], from: usize, most: usize, is_element: impl Fn(&str) -> bool) -> Tail<'_> {
    let end = bytes.len();
    let mut walk =
        Walk { bytes, tail: Tail::default(), member_end: end, element_end: end, depth: 0, list_depth: 2, most };
    let mut at = end;
    while at > from {
        at -= 1;
        let goes_on = match bytes[at] {
            b'"' => opening_quote(bytes, at).is_some_and(|quote| {
                at = quote;
                true
            }),
            b'}' | b']' => walk.enter(at),
            b'{' | b'[' => walk.leave(at),
            b',' => walk.separate(at),
            _ => true,
        };
        let is_full = || walk.tail.elements.len() == most && walk.tail.elements.last().is_some_and(|it| is_element(it));
        if !goes_on || bytes[at] == b',' && is_full() {
            break;
        }
    }
    walk.tail
}

/// The quote that opens the string that the quote at `closing` closes.
fn opening_quote(bytes: &[u8], closing: usize) -> Option<usize> {
    let mut at = closing;
    loop {
        at = memrchr(b'"', &bytes[..at])?;
        let slashes = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 {
            return Some(at);
        }
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    tail: Tail<'a>,
    /// The end of the member that is being read.
    member_end: usize,
    /// The end of the element that is being read.
    element_end: usize,
    /// The number of containers that are open.
    depth: usize,
    /// The depth of the elements: the text may be the list itself.
    list_depth: usize,
    /// The most elements that are kept.
    most: usize,
}

impl Walk<'_> {
    /// Enters the container that ends here.
    fn enter(&mut self, at: usize) -> bool {
        self.depth += 1;
        if self.depth == 1 {
            self.list_depth = if self.bytes[at] == b']' { 1 } else { 2 };
            self.member_end = at;
        }
        if self.depth == self.list_depth {
            self.element_end = at;
            self.tail.elements.clear();
        }
        true
    }

    /// Leaves the container that begins here.
    fn leave(&mut self, at: usize) -> bool {
        self.separate(at);
        self.depth = self.depth.saturating_sub(1);
        self.depth > 0
    }

    /// Takes the member or element that begins behind this place.
    fn separate(&mut self, at: usize) -> bool {
        let bytes = self.bytes;
        let text = |end: usize| bytes.get(at + 1..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
        if self.depth == self.list_depth {
            if self.tail.elements.len() < self.most {
                self.tail.elements.extend(text(self.element_end));
            }
            self.element_end = at;
        } else if self.depth == 1 {
            self.tail.members.extend(text(self.member_end));
            self.member_end = at;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, from: usize, most: usize) -> (Vec<&str>, Vec<&str>) {
        let Tail { members, elements } = tail(text.as_bytes(), from, most, |element| element.contains("role"));
        (members, elements)
    }

    #[test]
    fn the_last_elements_and_the_members_behind_them_are_found() {
        let text =
            r#"{"a":1,"m":[{"role":1},{"role":"x]\\"},{"role":"\"}"}],"tools":[{"n":[1,2]},{"n":2}],"model":"g"}"#;
        let from = text.find("},{").unwrap() + 1;
        let members = vec![r#""model":"g""#, r#""tools":[{"n":[1,2]},{"n":2}]"#];
        assert_eq!(read(text, from, 9), (members.clone(), vec![r#"{"role":"\"}"}"#, r#"{"role":"x]\\"}"#]));
        assert_eq!(read(text, from, 1), (members, vec![r#"{"role":"\"}"}"#]));
    }

    #[test]
    fn a_text_may_be_the_list_itself_or_no_json() {
        assert_eq!(read(r#" [{"role":1}, {"role":2}] "#, 12, 9), (vec![], vec![r#" {"role":2}"#]));
        for text in ["", "\"", "]", "}{", "[[", ",", "\\\"", "{\"a\":[1,"] {
            read(text, 0, 9);
        }
    }
}
