//! Pieces of a text that come one after the other, or the text again and again.
//!
//! Some servers send what is new, some send all they have so far, and some do both in turn.
//! Which it is shows only when all is there, so both readings are kept: in one of them every
//! piece is new, in the other a piece that begins with all there is replaces it. What was
//! replaced is the start of what replaced it, so of that only the length is kept.

use std::borrow::Cow;

/// How many pieces must each go on from all there was until text is taken for repeated, and how
/// many of them must repeat words. What people and models write does so by chance, though never
/// for long.
const REPEATED_MIN: usize = 3;
const TELLING_MIN: usize = 2;

/// How many letters are a word: lines, indents, numbers and laughter are made of fewer.
const LETTERS_MIN: usize = 3;

/// A text that comes in pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// The text in which what is repeated stands once.
    last: String,
    /// How long it was when it was repeated, and how often that was.
    earlier: Vec<(usize, usize)>,
    /// How many bytes came.
    came: usize,
    /// How many pieces went on from all there was: what is only said twice says nothing.
    longer: usize,
    /// How many of these can hardly be new.
    telling: usize,
    /// Something new came before it was clear that text is repeated.
    is_mixed: bool,
    /// Nothing is to be guessed about it.
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
                self.telling += usize::from(!self.is_repeated() && is_telling(&self.last, new));
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

    /// Every piece is new, whatever they look like.
    pub(crate) fn take_as_it_comes(&mut self) {
        self.is_plain = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Whether nothing came but blanks.
    pub(crate) fn is_blank(&self) -> bool {
        self.last.trim().is_empty()
    }

    /// How many bytes are kept, or would be if nothing were guessed.
    pub(crate) fn size(&self) -> usize {
        if self.is_repeated() { self.last.len() + size_of_val(self.earlier.as_slice()) } else { self.came }
    }

    /// How many bytes more are kept with a further piece, or about so many.
    pub(crate) fn growth(&self, piece: &str) -> usize {
        match piece.strip_prefix(self.last.as_str()) {
            Some(new) if self.is_repeated() => new.len() + size_of::<(usize, usize)>(),
            _ => piece.len(),
        }
    }

    /// All pieces behind each other.
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

    /// What is said where pieces repeat what was there, if any did.
    pub(crate) fn repeated(&self) -> Option<&str> {
        (self.longer > 1 && !self.is_plain).then_some(&self.last)
    }

    /// What the pieces say where nothing else tells the two readings apart.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        if self.is_repeated() { Cow::Borrowed(&self.last) } else { self.joined() }
    }

    /// Whether the pieces are taken for a text that comes again and again.
    pub(crate) fn is_repeated(&self) -> bool {
        !self.is_plain && !self.is_mixed && self.longer >= REPEATED_MIN && self.telling >= TELLING_MIN
    }
}

/// Whether a piece that repeats all there was and goes on can hardly be new: it repeats words,
/// and what is new in it does not repeat them once more.
fn is_telling(before: &str, new: &str) -> bool {
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
    fn pieces_are_joined() {
        assert_eq!(read(&["He", "", "llo", " you"]).text(), "Hello you");
        assert_eq!(read(&["ha", "haha"]).text(), "hahaha");
        assert_eq!(read(&["    ", "        ", "            "]).text(), " ".repeat(24));
        assert_eq!(read(&["a", "b", "bc", "bcd", "bcdefg"]).text(), "abbcbcdbcdefg");
        assert_eq!(read(&["haha", "haha", "haha", "haha"]).text(), "haha".repeat(4));
        assert_eq!(read(&["-", "-", "--", "--", "x"]).text(), "------x");
    }

    #[test]
    fn what_grows_by_itself_is_not_taken_for_repeated() {
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
        plain.take_as_it_comes();
        for piece in ["I", "I will", "I will look", "I will look at it"] {
            plain.push(piece);
        }
        assert_eq!((&*plain.text(), plain.repeated()), ("II willI will lookI will look at it", None));
    }

    #[test]
    fn what_comes_again_and_again_is_taken_once() {
        let pieces = ["I", "I will", "I will look", "I will look at it"];
        assert_eq!(read(&pieces).text(), "I will look at it");
        assert_eq!(read(&["I", "I", "I wi", "I will", "I will look", "I will look at"]).text(), "I will look at");
        assert_eq!(read(&["Hel", "Hello", "Hello you"]).text(), "Hello you");
        assert_eq!(read(&["我会", "我会看", "我会看看", "我会看看它"]).text(), "我会看看它");
        assert_eq!(read(&["{\"a\":", "{\"a\":1}"]).repeated(), Some("{\"a\":1}"));
        assert_eq!(read(&["{", "\"a\":1}"]).repeated(), None);
    }

    #[test]
    fn what_is_new_goes_on_from_what_was_repeated() {
        let pieces = ["I", "I will", "I will look", "I will look at", " it", "I will look at it all", "."];
        assert_eq!(read(&pieces).text(), "I will look at it all.");
        assert_eq!(read(&pieces).joined(), pieces.concat());
        assert_eq!(read(&["{\"a\":", "{\"a\":1", "}"]).repeated(), Some("{\"a\":1}"));
    }

    #[test]
    fn what_is_repeated_takes_the_room_of_one() {
        let text = "What is said once more is kept once. ".repeat(100);
        let mut snapshot = Snapshot::default();
        for end in 1..=text.len() {
            snapshot.push(&text[..end]);
            assert!(snapshot.growth(&text[..end]) <= 20);
        }
        assert_eq!(snapshot.text(), text);
        assert!(snapshot.size() < 20 * text.len(), "{}", snapshot.size());
    }
}
