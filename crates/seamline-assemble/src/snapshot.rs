//! Distinguishes deltas of a text from snapshots.
//!
//! Some servers send only the new part, some send everything so far, and some mix both. The right reading is known only
//! at the end, so both readings are kept: in one every piece is new; in the other a piece that begins with the whole
//! text so far replaces it. A replaced text is a prefix of its replacement, so only its length is kept.

use std::borrow::Cow;

/// How many pieces must extend the whole text so far before it counts as snapshots, and how many of them must repeat
/// words. Real text repeats itself by chance, but never for long.
const REPEATED_MIN: usize = 3;
const TELLING_MIN: usize = 2;

/// The fewest different letters of a word. Rulers, indents, numbers and text such as `haha` have fewer.
const LETTERS_MIN: usize = 3;

/// A text that arrives in pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// The text if the pieces are snapshots.
    last: String,
    /// The length of the text each time a piece repeated it, and how often.
    earlier: Vec<(usize, usize)>,
    /// The number of bytes that arrived.
    came: usize,
    /// How many pieces extended the whole text so far; exact repetitions do not count.
    longer: usize,
    /// How many of these are evidence of snapshots.
    telling: usize,
    /// Whether a new piece arrived before the text counted as snapshots.
    is_mixed: bool,
    /// Whether every piece counts as a delta.
    is_plain: bool,
}

impl Snapshot {
    pub(crate) fn push(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let before = self.last.len();
        if let Some(new) = piece.strip_prefix(self.last.as_str()) {
            if !new.is_empty() {
                self.longer += 1;
                self.telling += usize::from(!self.is_repeated() && is_evidence(&self.last, new));
            }
            self.note_repeated(before);
            self.last.push_str(new);
        } else {
            self.is_mixed |= !self.is_repeated();
            self.last.push_str(piece);
        }
        self.came += piece.len();
    }

    fn note_repeated(&mut self, length: usize) {
        match self.earlier.last_mut() {
            Some((known, count)) if *known == length => *count += 1,
            _ if length > 0 => self.earlier.push((length, 1)),
            _ => {}
        }
    }

    /// Makes every piece count as a delta.
    pub(crate) fn disable_snapshots(&mut self) {
        self.is_plain = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Whether only white space arrived.
    pub(crate) fn is_blank(&self) -> bool {
        self.last.trim().is_empty()
    }

    /// The number of bytes that are kept, or would be if all pieces were deltas.
    pub(crate) fn size(&self) -> usize {
        if self.is_repeated() { self.last.len() + size_of_val(self.earlier.as_slice()) } else { self.came }
    }

    /// Roughly how many more bytes a further piece would take.
    pub(crate) fn growth(&self, piece: &str) -> usize {
        match piece.strip_prefix(self.last.as_str()) {
            Some(new) if self.is_repeated() => new.len() + size_of::<(usize, usize)>(),
            _ => piece.len(),
        }
    }

    /// All pieces joined.
    pub(crate) fn joined(&self) -> Cow<'_, str> {
        if self.earlier.is_empty() {
            return Cow::Borrowed(&self.last);
        }
        let mut joined = String::with_capacity(self.came);
        for (length, count) in &self.earlier {
            (0..*count).for_each(|_| joined.push_str(&self.last[..*length]));
        }
        joined.push_str(&self.last);
        Cow::Owned(joined)
    }

    /// The text if the pieces are snapshots; `None` if they cannot be.
    pub(crate) fn repeated(&self) -> Option<&str> {
        (self.longer > 1 && !self.is_plain).then_some(&self.last)
    }

    /// The text in the more likely reading.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        if self.is_repeated() { Cow::Borrowed(&self.last) } else { self.joined() }
    }

    /// Whether the pieces count as snapshots.
    pub(crate) fn is_repeated(&self) -> bool {
        !self.is_plain && !self.is_mixed && self.longer >= REPEATED_MIN && self.telling >= TELLING_MIN
    }
}

/// Whether a piece that extends the whole text so far is evidence of snapshots: the text has words, and the new part
/// does not repeat them.
fn is_evidence(before: &str, new: &str) -> bool {
    let mut letters = [' '; LETTERS_MIN];
    let mut count = 0;
    for letter in before.chars().filter(|char| char.is_alphabetic()) {
        if !letters[..count].contains(&letter) {
            letters[count] = letter;
            count += 1;
        }
        if count == LETTERS_MIN {
            return !new.starts_with(before) && !before.starts_with(new);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for piece in pieces {
            snapshot.push(piece);
        }
        snapshot
    }

    #[test]
    fn deltas_are_joined() {
        assert_eq!(read(&["He", "", "llo", " you"]).text(), "Hello you");
        assert_eq!(read(&["ha", "haha"]).text(), "hahaha");
        assert_eq!(read(&["    ", "        ", "            "]).text(), " ".repeat(24));
        assert_eq!(read(&["a", "b", "bc", "bcd", "bcdefg"]).text(), "abbcbcdbcdefg");
        assert_eq!(read(&["haha", "haha", "haha", "haha"]).text(), "haha".repeat(4));
        assert_eq!(read(&["-", "-", "--", "--", "x"]).text(), "------x");
    }

    #[test]
    fn text_that_grows_by_chance_does_not_count_as_snapshots() {
        for pieces in [
            ["=", "==", "====", "========", "\nTitle"],
            [" ", "  ", "    ", "        ", "x = 1"],
            ["1", "10", "100", "1000", " are powers"],
            ["#", "##", "###", "#### Title", "x"],
            ["ha", "haha", "hahaha", "hahahaha", "!"],
            ["tick ", "tick tick ", "tick tick tick ", "tick tick tick tick ", "."],
        ] {
            assert_eq!(read(&pieces).text(), pieces.concat());
        }
        let mut plain = Snapshot::default();
        plain.disable_snapshots();
        for piece in ["I", "I will", "I will look", "I will look at it"] {
            plain.push(piece);
        }
        assert_eq!((&*plain.text(), plain.repeated()), ("II willI will lookI will look at it", None));
    }

    #[test]
    fn snapshots_are_taken_once() {
        let pieces = ["I", "I will", "I will look", "I will look at it"];
        assert_eq!(read(&pieces).text(), "I will look at it");
        assert_eq!(read(&["I", "I", "I wi", "I will", "I will look", "I will look at"]).text(), "I will look at");
        assert_eq!(read(&["Hel", "Hello", "Hello you"]).text(), "Hello you");
        assert_eq!(read(&["我会", "我会看", "我会看看", "我会看看它"]).text(), "我会看看它");
        assert_eq!(read(&["{\"a\":", "{\"a\":1}"]).repeated(), Some("{\"a\":1}"));
        assert_eq!(read(&["{", "\"a\":1}"]).repeated(), None);
    }

    #[test]
    fn deltas_continue_from_snapshots() {
        let pieces = ["I", "I will", "I will look", "I will look at", " it", "I will look at it all", "."];
        assert_eq!(read(&pieces).text(), "I will look at it all.");
        assert_eq!(read(&pieces).joined(), pieces.concat());
        assert_eq!(read(&["{\"a\":", "{\"a\":1", "}"]).repeated(), Some("{\"a\":1}"));
    }

    #[test]
    fn snapshots_take_the_memory_of_one_text() {
        let text = "A repeated text is kept only once. ".repeat(100);
        let mut snapshot = Snapshot::default();
        for end in 1..=text.len() {
            snapshot.push(&text[..end]);
            assert!(snapshot.growth(&text[..end]) <= 20);
        }
        assert_eq!(snapshot.text(), text);
        assert!(snapshot.size() < 20 * text.len(), "{}", snapshot.size());
    }
}
