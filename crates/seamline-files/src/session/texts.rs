//! The texts of the messages of a file, one behind the other. The conversation is written over them, so that a long one is
//! in memory once.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use super::KeptTexts;

/// The address space for the texts of a long file. The system gives memory only for the part that is written, and texts
/// that need no more never move.
const ROOM_BYTES: usize = 64 * 1024 * 1024;

/// The byte behind each text: the room for the comma behind a message.
const GAP: u8 = b',';

/// The texts of the messages of a file, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
}

/// The place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPlace {
    start: usize,
    length: NonZeroUsize,
}

impl TextPlace {
    fn end(self) -> usize {
        self.start + self.length.get()
    }
}

impl Texts {
    pub(crate) fn new(content: KeptTexts) -> Self {
        let room = match content {
            KeptTexts::Whole => 0,
            KeptTexts::Abridged => ROOM_BYTES,
        };
        Self { bytes: Vec::with_capacity(room) }
    }

    /// Adds a text that is given in parts. An empty text has no place.
    pub(crate) fn add(&mut self, parts: &[&str]) -> Option<TextPlace> {
        let start = self.bytes.len();
        for part in parts {
            self.bytes.extend_from_slice(part.as_bytes());
        }
        let length = NonZeroUsize::new(self.bytes.len() - start)?;
        self.bytes.push(GAP);
        Some(TextPlace { start, length })
    }

    /// Removes a text and all texts behind it.
    pub(crate) fn remove_from(&mut self, first: TextPlace) {
        self.bytes.truncate(first.start);
    }

    /// Removes all texts.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Starts the list of messages.
    pub(crate) fn into_list(self) -> MessageList {
        MessageList { bytes: self.bytes, written: 0, next: 0, saved: HashMap::new() }
    }
}

/// A list of messages that is written over the texts that its messages are made of.
#[derive(Debug)]
pub(crate) struct MessageList {
    bytes: Vec<u8>,
    /// The end of the messages so far, with the comma behind the last one.
    written: usize,
    /// The first record whose text may still be overwritten.
    next: usize,
    /// The texts that were overwritten before they were taken, by their start.
    saved: HashMap<usize, String>,
}

impl MessageList {
    /// Takes a text.
    pub(crate) fn take(&mut self, place: TextPlace) -> String {
        self.saved.remove(&place.start).unwrap_or_else(|| self.read(place))
    }

    fn read(&self, place: TextPlace) -> String {
        String::from_utf8_lossy(&self.bytes[place.start..place.end()]).into_owned()
    }

    /// Writes a message. `untaken` gives for each record of the file, by its index, the text that is not taken yet; nothing
    /// behind the last record.
    pub(crate) fn push(&mut self, message: &str, untaken: impl Fn(usize) -> Option<Option<TextPlace>>) {
        let end = self.written + message.len() + 1;
        while let Some(text) = untaken(self.next) {
            if let Some(place) = text {
                if place.start >= end {
                    break;
                }
                self.saved.insert(place.start, self.read(place));
            }
            self.next += 1;
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, GAP);
        }
        self.bytes[self.written..end - 1].copy_from_slice(message.as_bytes());
        self.bytes[end - 1] = GAP;
        self.written = end;
    }

    /// The messages behind the opening of a body.
    pub(crate) fn behind(mut self, opening: &str) -> String {
        self.bytes.truncate(self.written.saturating_sub(1));
        self.bytes.splice(0..0, opening.bytes());
        String::from_utf8(self.bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_in_another_order_lose_no_text() {
        let texts = ["one", "the second", "3", "the fourth text", "five"];
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [0, 3, 1, 4, 2], [2, 0, 4, 1, 3]] {
            let mut all = Texts::new(KeptTexts::Whole);
            let mut places: Vec<Option<TextPlace>> = texts.iter().map(|text| all.add(&[text])).collect();
            let mut list = all.into_list();
            let mut expected = Vec::new();
            for index in order {
                let text = list.take(places[index].take().unwrap());
                assert_eq!(text, texts[index]);
                // A message may be longer than its text.
                expected.push(format!("[{text}]"));
                list.push(expected.last().unwrap(), |record| places.get(record).copied());
            }
            assert_eq!(list.behind("{\"a\":["), format!("{{\"a\":[{}", expected.join(",")));
        }
    }

    #[test]
    fn removed_texts_make_room_and_an_empty_text_has_no_place() {
        let mut texts = Texts::default();
        let [first, second] = ["first", "second"].map(|text| texts.add(&[text]).unwrap());
        texts.remove_from(second);
        assert_eq!((texts.add(&[]), texts.add(&["", ""])), (None, None));
        let third = texts.add(&["thi", "rd"]).unwrap();
        let mut list = texts.into_list();
        assert_eq!((list.take(first), list.take(third)), ("first".to_owned(), "third".to_owned()));
        assert_eq!(list.behind("x"), "x");
    }
}
