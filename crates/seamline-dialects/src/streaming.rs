//! Answers that come in pieces: each dialect reads the frames of a stream and writes the
//! message that was put together of them. No dialect decides how a stream ended.

use seamline_frame::Frame;
use seamline_model::{Assembled, Event};

/// What one dialect can do for a stream.
#[derive(Debug, Clone, Copy)]
pub struct Streaming {
    /// A reader for a stream that begins.
    pub reader: fn() -> Box<dyn StreamReader>,
    /// Writes a message as the provider does that answers in one piece.
    pub answer: fn(&Assembled) -> String,
    /// Writes it as the messages or items that a request takes back: nothing that only responses
    /// have, and no message in which nothing is said. Which calls are in it is decided before.
    pub messages: fn(&Assembled) -> Vec<String>,
}

/// Reads the frames of one streamed answer.
///
/// The events of one frame are given out in order, and borrow from it. A frame that cannot be
/// understood is an [`Event::Unreadable`] and never an end.
pub trait StreamReader: Send {
    /// Takes the next frame.
    fn handle_frame(&mut self, frame: &Frame<'_>, sink: &mut dyn FnMut(Event<'_>));

    /// Nothing more comes, for whatever reason. Dialects whose streams have no end of their own
    /// say here whether they have seen all of it.
    fn handle_end(&mut self, sink: &mut dyn FnMut(Event<'_>));
}
