//! Finds the end of a JSON value that begins with a bracket.

/// The position inside a value. Brackets are counted, not matched: a value with wrong brackets is still one frame, and
/// its reader reports the error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Nesting {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    /// Reads more of a value. Returns how many of the bytes belong to it, once its last bracket is closed.
    pub(crate) fn close(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.escaped {
                self.escaped = false;
                at += 1;
            } else if self.in_string {
                at = self.string(bytes, at);
            } else {
                match bytes[at] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
        }
        None
    }

    /// Reads more of a string, and returns the position after it.
    fn string(&mut self, bytes: &[u8], at: usize) -> usize {
        let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else {
            return bytes.len();
        };
        let place = at + found;
        self.escaped = bytes[place] == b'\\';
        self.in_string = self.escaped;
        place + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_with_its_last_bracket_at_every_cut() {
        let text = br#"{"a":"}\"]\\","b":[{"c":[]},"[{"]} rest"#;
        let end = text.len() - " rest".len();
        for cut in 0..end {
            let mut nesting = Nesting::default();
            assert_eq!(nesting.close(&text[..cut]), None, "{cut}");
            assert_eq!(nesting.close(&text[cut..]), Some(end - cut), "{cut}");
        }
    }
}
