//! Where a place of JSON text is: inside of how many brackets, and whether inside of a string.

/// The state behind a byte of JSON text. Text that is not JSON has one, too.
#[derive(Default)]
pub(crate) struct Nesting {
    pub(crate) in_string: bool,
    /// Whether the byte before began an escape.
    pub(crate) is_escaped: bool,
    /// The number of brackets that are open.
    pub(crate) depth: usize,
}

impl Nesting {
    /// Follows one more byte.
    pub(crate) fn step(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.in_string => self.is_escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}
