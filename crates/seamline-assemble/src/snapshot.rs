//! Pieces of a text that come one after the other, or the text again and again.
//!
//! Some servers send what is new, some send all they have so far, and some do both in turn.
//! Which it is shows only when all is there, so both readings are kept: in one of them every
//! piece is new, in the other a piece that begins with all there is replaces it.

/// How many pieces must each go on from all there was until text is taken for repeated. What
/// people and models write does so by chance, though never for long.
const REPEATED_MIN: usize = 4;

/// How many suffice where they repeat so many bytes of words.
const REPEATED_WORDS_MIN: usize = 3;
const REPEATED_WORDS_BYTES_MIN: usize = 7;

/// A text that comes in pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// All pieces, one behind the other.
    joined: String,
    /// Where the text begins in which what is repeated stands once.
    last: usize,
    count: usize,
    /// How many pieces went on from all there was: what is only said twice says nothing.
    longer: usize,
    /// How many bytes of words these repeated.
    repeated_bytes: usize,
    /// Something new came before it was clear that text is repeated.
    is_mixed: bool,
}

impl Snapshot {
    pub(crate) fn push(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let before = &self.joined[self.last..];
        if piece.starts_with(before) {
            if piece.len() > before.len() {
                self.longer += 1;
                self.repeated_bytes += if before.contains(char::is_alphanumeric) { before.len() } else { 0 };
            }
            self.last = self.joined.len();
        } else {
            self.is_mixed |= !self.is_repeated();
        }
        self.joined.push_str(piece);
        self.count += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.joined.is_empty()
    }

    /// All pieces behind each other.
    pub(crate) fn joined(&self) -> &str {
        &self.joined
    }

    /// What is said where pieces repeat what was there, if any did.
    pub(crate) fn repeated(&self) -> Option<&str> {
        (self.longer > 1).then(|| &self.joined[self.last..])
    }

    /// What the pieces say where nothing else tells the two readings apart.
    pub(crate) fn text(&self) -> &str {
        if self.is_repeated() { &self.joined[self.last..] } else { &self.joined }
    }

    fn is_repeated(&self) -> bool {
        let has_words = self.longer >= REPEATED_WORDS_MIN && self.repeated_bytes >= REPEATED_WORDS_BYTES_MIN;
        let is_long = self.longer >= REPEATED_MIN && self.joined.len() - self.last >= self.count;
        !self.is_mixed && (has_words || is_long)
    }
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
    fn pieces_are_joined() {
        assert_eq!(read(&["He", "", "llo", " you"]).text(), "Hello you");
        assert_eq!(read(&["ha", "haha"]).text(), "hahaha");
        assert_eq!(read(&["    ", "        ", "            "]).text(), " ".repeat(24));
        assert_eq!(read(&["a", "b", "bc", "bcd", "bcdefg"]).text(), "abbcbcdbcdefg");
        assert_eq!(read(&["haha", "haha", "haha", "haha"]).text(), "haha".repeat(4));
    }

    #[test]
    fn what_comes_again_and_again_is_taken_once() {
        let pieces = ["I", "I will", "I will look", "I will look at it"];
        assert_eq!(read(&pieces).text(), "I will look at it");
        assert_eq!(read(&["I", "I", "I wi", "I will", "I will look"]).text(), "I will look");
        assert_eq!(read(&["Hel", "Hello", "Hello you"]).text(), "Hello you");
        assert_eq!(read(&["{\"a\":", "{\"a\":1}"]).repeated(), Some("{\"a\":1}"));
        assert_eq!(read(&["{", "\"a\":1}"]).repeated(), None);
    }

    #[test]
    fn what_is_new_goes_on_from_what_was_repeated() {
        let pieces = ["I", "I will", "I will look", " at", "I will look at it", "."];
        assert_eq!(read(&pieces).text(), "I will look at it.");
        assert_eq!(read(&["{\"a\":", "{\"a\":1", "}"]).repeated(), Some("{\"a\":1}"));
    }
}
