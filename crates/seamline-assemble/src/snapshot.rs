//! Pieces of a text that come one after the other, or the text again and again.
//!
//! Some servers send what is new, some send all they have so far. Which it is shows only when
//! all is there: pieces that each begin with all of the one before are pieces of neither kind
//! for certain, so both readings are kept.

/// How many pieces must each begin with the one before until text is taken for repeated.
/// What people and models write does so by chance, though never for long.
const REPEATED_MIN: usize = 4;

/// A text that comes in pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// All pieces, one behind the other.
    joined: String,
    /// Where the last piece begins.
    last: usize,
    count: usize,
    /// Every piece began with all of the one before it.
    grows: bool,
    /// How many of them went on from there: what is only said twice says nothing.
    longer: usize,
}

impl Snapshot {
    pub(crate) fn push(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let before = &self.joined[self.last..];
        self.grows = (self.count == 0 || self.grows) && piece.starts_with(before);
        self.longer += usize::from(piece.len() > before.len());
        // Where they do not grow, the last one is never looked at again.
        self.last = if self.grows { self.joined.len() } else { 0 };
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

    /// The last piece, if each one began with all of the one before.
    pub(crate) fn repeated(&self) -> Option<&str> {
        (self.longer > 1 && self.grows).then(|| &self.joined[self.last..])
    }

    /// What the pieces say where nothing else tells the two readings apart.
    pub(crate) fn text(&self) -> &str {
        let all_longer = self.repeated().filter(|last| self.longer >= REPEATED_MIN && last.len() >= self.count);
        all_longer.unwrap_or(&self.joined)
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
        assert_eq!(read(&["haha", "haha", "haha", "haha"]).text(), "haha".repeat(4));
    }

    #[test]
    fn what_comes_again_and_again_is_taken_once() {
        let pieces = ["I", "I will", "I will look", "I will look at it"];
        assert_eq!(read(&pieces).text(), "I will look at it");
        assert_eq!(read(&["I", "I", "I wi", "I will", "I will look"]).text(), "I will look");
        assert_eq!(read(&["{\"a\":", "{\"a\":1}"]).repeated(), Some("{\"a\":1}"));
        assert_eq!(read(&["{", "\"a\":1}"]).repeated(), None);
    }
}
