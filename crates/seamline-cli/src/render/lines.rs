//! Lines and columns of a text, found without a new scan for each place.

/// The bytes between two places with known character counts.
const STRIDE: usize = 4096;

/// The start of each line, and the number of characters before each stride.
pub(crate) struct Lines<'t> {
    bytes: &'t [u8],
    starts: Vec<usize>,
    characters: Vec<usize>,
}

/// A position as people count it, from 1; columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(bytes: &'t [u8]) -> Self {
        let mut starts = vec![0];
        let mut characters = vec![0];
        let mut count = 0;
        for chunk in bytes.chunks(STRIDE) {
            count += count_characters(chunk);
            characters.push(count);
        }
        starts.extend(bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at + 1));
        Self { bytes, starts, characters }
    }

    /// Returns the position of a byte.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.bytes.len());
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts[line - 1];
        Position { line, column: 1 + self.characters_before(offset) - self.characters_before(start) }
    }

    fn characters_before(&self, offset: usize) -> usize {
        let stride = offset / STRIDE;
        self.characters[stride] + count_characters(&self.bytes[stride * STRIDE..offset])
    }
}

/// Counts the bytes that begin a character.
fn count_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_lines_and_characters() {
        let text = format!("ab\n日本x\n{}é!", "y".repeat(2 * STRIDE));
        let lines = Lines::new(text.as_bytes());
        for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let before = &text[..offset];
            let line = 1 + before.matches('\n').count();
            let column = 1 + before.rsplit('\n').next().unwrap_or("").chars().count();
            assert_eq!(lines.position(offset), Position { line, column });
        }
    }
}
