//! Finds the members of a JSON object without reading their values.
//!
//! The proxy needs a few short members of bodies that can be megabytes long. The scan steps over strings and nested
//! values; it does not check that they are valid, and ends at the first byte that cannot belong to an object.

use memchr::{memchr2, memrchr};

/// The members of an object, as the raw bytes of each key (without its quotes) and of each value.
pub(crate) struct Members<'b> {
    body: &'b [u8],
    at: usize,
}

impl<'b> Members<'b> {
    /// The members of the object that the bytes are; none where they are not an object.
    pub(crate) fn of(body: &'b [u8]) -> Self {
        let start = skip_space(body, 0);
        let at = if body.get(start) == Some(&b'{') { start + 1 } else { body.len() };
        Self { body, at }
    }

    /// The place of the next member's value, and its key; the value is not stepped over.
    pub(crate) fn next_value(&self) -> Option<(&'b [u8], usize)> {
        let start = skip_space(self.body, self.at);
        let key_end = string_end(self.body, start)?;
        let colon = skip_space(self.body, key_end);
        (self.body.get(colon) == Some(&b':'))
            .then(|| (&self.body[start + 1..key_end - 1], skip_space(self.body, colon + 1)))
    }

    /// The value of the first member with this key. A key that is written with escapes is not found.
    pub(crate) fn get(body: &'b [u8], key: &str) -> Option<&'b [u8]> {
        Self::of(body).find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| value)
    }
}

impl<'b> Iterator for Members<'b> {
    type Item = (&'b [u8], &'b [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.next_value()?;
        let value_end = value_end(self.body, value)?;
        let after = skip_space(self.body, value_end);
        self.at = if self.body.get(after) == Some(&b',') { after + 1 } else { self.body.len() };
        Some((key, &self.body[value..value_end]))
    }
}

/// The last members of an object, the last one first. The scan goes backwards from the end of the object, so that what
/// comes before them is not looked at. Outside of strings JSON has no backslash, so it can be read in this direction.
pub(crate) struct LastMembers<'b> {
    body: &'b [u8],
    /// The members end after this place.
    floor: usize,
    end: usize,
}

/// The longest list or object that is stepped over backwards.
const NESTED_BYTES_MAX: usize = 32 * 1024;

impl<'b> LastMembers<'b> {
    /// The members of the object that the bytes are, down to a place in it; none where the bytes end in another way.
    pub(crate) fn of(body: &'b [u8], floor: usize) -> Self {
        let end = end_before(body, body.len());
        let end = if body[..end].ends_with(b"}") { end - 1 } else { 0 };
        Self { body, floor, end }
    }
}

impl<'b> Iterator for LastMembers<'b> {
    type Item = (&'b [u8], &'b [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let value_end = end_before(self.body, self.end);
        let value = value_start(self.body, value_end)?;
        let colon = end_before(self.body, value);
        let key_end = end_before(self.body, self.body[..colon].strip_suffix(b":")?.len());
        let key = string_start(self.body, key_end)?;
        if key <= self.floor {
            return None;
        }
        let before = end_before(self.body, key);
        self.end = self.body[..before].strip_suffix(b",").map_or(0, <[u8]>::len);
        Some((&self.body[key + 1..key_end - 1], &self.body[value..value_end]))
    }
}

/// The end of what comes before the white space before a place.
fn end_before(body: &[u8], end: usize) -> usize {
    body[..end].trim_ascii_end().len()
}

/// The quote that opens the string that ends here.
fn string_start(body: &[u8], end: usize) -> Option<usize> {
    let mut inside = body[..end].strip_suffix(b"\"")?;
    loop {
        let quote = memrchr(b'"', inside)?;
        inside = &inside[..quote];
        let escapes = inside.iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes.is_multiple_of(2) {
            return Some(quote);
        }
    }
}

/// The start of the value that ends here.
fn value_start(body: &[u8], end: usize) -> Option<usize> {
    match body[..end].last()? {
        b'"' => string_start(body, end),
        b'}' | b']' => nested_start(body, end),
        b',' | b'{' | b'[' | b':' => None,
        _ => {
            let is_start = |byte: &u8| matches!(byte, b',' | b'{' | b'[' | b':') || byte.is_ascii_whitespace();
            body[..end].iter().rposition(is_start).map(|before| before + 1)
        }
    }
}

/// The start of the object or list that ends here, if it is short.
fn nested_start(body: &[u8], end: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = end;
    while at > 0 && end - at < NESTED_BYTES_MAX {
        match body[at - 1] {
            b'"' => {
                at = string_start(body, at)?;
                continue;
            }
            b'}' | b']' => depth += 1,
            b'{' | b'[' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at - 1);
                }
            }
            _ => {}
        }
        at -= 1;
    }
    None
}

/// The string that the bytes start with, as its raw bytes.
pub(crate) fn string(body: &[u8]) -> Option<&[u8]> {
    string_end(body, 0).map(|end| &body[..end])
}

/// The elements of an array, as their raw bytes.
pub(crate) struct Elements<'b> {
    body: &'b [u8],
    at: usize,
}

impl<'b> Elements<'b> {
    /// The elements of the array that the bytes are; none where they are not an array.
    pub(crate) fn of(body: &'b [u8]) -> Self {
        let start = skip_space(body, 0);
        let at = if body.get(start) == Some(&b'[') { start + 1 } else { body.len() };
        Self { body, at }
    }
}

impl<'b> Iterator for Elements<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let start = skip_space(self.body, self.at);
        let end = value_end(self.body, start)?;
        let after = skip_space(self.body, end);
        self.at = if self.body.get(after) == Some(&b',') { after + 1 } else { self.body.len() };
        Some(&self.body[start..end])
    }
}

fn skip_space(body: &[u8], at: usize) -> usize {
    let rest = body.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The end of the string that starts at a quote.
fn string_end(body: &[u8], at: usize) -> Option<usize> {
    if body.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        let found = at + memchr2(b'"', b'\\', body.get(at..)?)?;
        if body[found] == b'"' {
            return Some(found + 1);
        }
        at = found + 2;
    }
}

fn value_end(body: &[u8], at: usize) -> Option<usize> {
    match body.get(at)? {
        b'"' => string_end(body, at),
        b'{' | b'[' => nested_end(body, at),
        b',' | b'}' | b']' | b':' => None,
        _ => {
            let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            Some(body[at..].iter().position(is_end).map_or(body.len(), |length| at + length))
        }
    }
}

/// The end of the object or array that starts here. Counts brackets and does not recurse.
fn nested_end(body: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        match body.get(at)? {
            b'"' => {
                at = string_end(body, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(body: &str) -> Vec<(&str, &str)> {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        Members::of(body.as_bytes()).map(|(key, value)| (text(key), text(value))).collect()
    }

    #[test]
    fn members_are_found_around_nested_values_and_escaped_quotes() {
        let body = r#" { "a" : "x\"}\\" , "b":{"c":[1,{"d":"]"}]},"e":-1.5e3, "f":null }"#;
        let expected = [("a", r#""x\"}\\""#), ("b", r#"{"c":[1,{"d":"]"}]}"#), ("e", "-1.5e3"), ("f", "null")];
        assert_eq!(members(body), expected);
        assert_eq!(Members::get(body.as_bytes(), "e"), Some(b"-1.5e3".as_slice()));
        assert_eq!(Members::get(body.as_bytes(), "c"), None);
    }

    #[test]
    fn the_last_members_are_found_backwards() {
        let last = |body: &'static str, floor: usize| {
            let text = |bytes| std::str::from_utf8(bytes).unwrap();
            LastMembers::of(body.as_bytes(), floor).map(|(key, value)| (text(key), text(value))).collect::<Vec<_>>()
        };
        let body = r#" { "a" : "x\"}\\" , "b":{"c":[1,{"d":"]\\\""}]},"e":-1.5e3, "f\"":null } "#;
        let mut expected = members(body);
        assert_eq!(expected.len(), 4);
        expected.reverse();
        assert_eq!(last(body, 0), expected);
        assert_eq!(last(body, body.find("\"b\"").unwrap()), expected[..2]);
        for odd in
            ["", "}", "{}", "[1]", "{\"a\"}", "{\"a\":1]", "\"}", "1}", ":1}", "{\"a\":}", "]}", "{,}", "{\"a\":1},"]
        {
            assert_eq!(last(odd, 0), [], "{odd}");
        }
        let long = format!(r#"{{"a":1,"b":["{}"],"c":[2]}}"#, "x".repeat(NESTED_BYTES_MAX));
        let found: Vec<_> = LastMembers::of(long.as_bytes(), 0).map(|(key, _)| key).collect();
        assert_eq!(found, [b"c"], "a long list is not stepped over");
        let long = format!(r#"{{"a":1,"b":[{}2],"c":[2]}}"#, "1,".repeat(NESTED_BYTES_MAX));
        assert_eq!(LastMembers::of(long.as_bytes(), 0).count(), 1);
    }

    #[test]
    fn elements_are_found_in_order() {
        let elements: Vec<_> = Elements::of(br#"[ {"a":[1]} , "x,]", 3]"#).collect();
        assert_eq!(elements, [br#"{"a":[1]}"#.as_slice(), br#""x,]""#, b"3"]);
        assert_eq!(Elements::of(b"[]").count(), 0);
        assert_eq!(Elements::of(b"{}").count(), 0);
    }

    #[test]
    fn every_cut_of_a_body_is_read_without_a_panic() {
        let body = br#"{"a":"x\"}\\","b":{"c":[1,{"d":"]"}]},"e":-1.5e3}"#;
        for end in 0..body.len() {
            let read = Members::of(&body[..end]).count() + LastMembers::of(&body[..end], 0).count();
            assert!(read <= 6, "{end}");
            let _ = LastMembers::of(&body[end..], 0).count();
        }
        for odd in ["", "[", "{", "{\"a\"", "{\"a\":}", "{\"a\":]", "\"", "{,}", "{\"a\":1]}", "}"] {
            let _ = (members(odd), Elements::of(odd.as_bytes()).count());
        }
    }
}
