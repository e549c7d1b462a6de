//! How the lists of a transcript grow.

use super::Transcript;
use crate::Source;

/// The usual size of a message and of a block, to allocate capacity once.
const MESSAGE_BYTES: usize = 1024;
const BLOCK_BYTES: usize = 512;

/// The number of messages that show how dense the messages of a body are.
const SAMPLE_MESSAGES: usize = 1024;

/// The most times that the lists grow at once: a part of a body may be much denser than the rest.
const GROWTH_MAX: usize = 7;

impl<'a> Transcript<'a> {
    /// An empty transcript of a body, with estimated capacity.
    pub fn new(body: &'a [u8]) -> Self {
        Self::with_room(Source::new(body), body.len() / MESSAGE_BYTES + 1, body.len() / BLOCK_BYTES + 1)
    }

    /// Makes room for the messages behind the first `read` bytes, if they are as dense as the ones before. Doubling would
    /// copy long lists several times, and the allocator keeps the memory of the copies.
    #[cold]
    pub(super) fn make_room(&mut self, read: usize) {
        let rest = self.source.body.len().saturating_sub(read);
        if rest == 0 || self.messages.len() < SAMPLE_MESSAGES {
            return;
        }
        let more = |known: usize| (rest.saturating_mul(known) / read.max(1)).min(GROWTH_MAX * known) + known / 32 + 1;
        self.messages.reserve_exact(more(self.messages.len()));
        self.blocks.reserve_exact(more(self.blocks.len()));
        if !self.items.is_empty() {
            self.items.reserve_exact(more(self.items.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentForm, Message, Role, Span};

    /// Adds a message of so many bytes behind the others.
    fn add(transcript: &mut Transcript<'_>, bytes: u32) {
        let start = transcript.messages.last().map_or(0, |last| last.span.end);
        let span = Span { start, end: start + bytes };
        transcript.push(Message {
            role: Role::User,
            span,
            first_block: 0,
            end_block: 0,
            body: ContentForm::Text,
            is_unknown: false,
        });
    }

    #[test]
    fn the_lists_of_a_dense_body_grow_once_to_their_size() {
        let body = vec![b' '; 1_000_000];
        let mut transcript = Transcript::new(&body);
        (0..2_000).for_each(|_| add(&mut transcript, 100));
        let room = transcript.messages.capacity();
        assert!((10_000..11_000).contains(&room), "{room}");
        (2_000..10_000).for_each(|_| add(&mut transcript, 100));
        assert_eq!(transcript.messages.capacity(), room);
    }

    #[test]
    fn a_dense_start_does_not_reserve_for_the_whole_body() {
        let body = vec![b' '; 100_000_000];
        let mut transcript = Transcript::with_room(Source::new(&body), 2_000, 2_000);
        (0..2_001).for_each(|_| add(&mut transcript, 3));
        assert!(transcript.messages.capacity() < 2_001 * (GROWTH_MAX + 2), "{}", transcript.messages.capacity());
    }
}
