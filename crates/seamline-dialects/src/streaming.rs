//! Streamed responses: each dialect reads the frames of a stream and writes the message that was assembled from
//! them. No dialect decides how a stream ended.

use seamline_frame::Frame;
use seamline_model::{Assembled, Event};

/// The functions that read streamed responses and write whole ones.
#[derive(Debug, Clone, Copy)]
pub struct Streaming {
    /// Makes a reader for a new stream.
    pub reader: fn() -> Box<dyn StreamReader>,
    /// Writes a message as the provider writes a response that does not stream.
    pub response: fn(&Assembled) -> String,
    /// Writes it as messages or items of a request: without the members that only responses have, and without empty
    /// messages. The caller has decided before which calls are in it.
    pub messages: fn(&Assembled) -> Vec<String>,
    /// Whether the provider sends each event as a message of an AWS event stream.
    pub is_aws_framed: bool,
}

/// Reads the frames of one streamed response.
///
/// It gives out the events of one frame in order; they borrow from the frame. A frame that cannot be read is an
/// [`Event::Unreadable`] and never an end.
pub trait StreamReader: Send {
    /// Takes the next frame.
    fn handle_frame(&mut self, frame: &Frame<'_>, sink: &mut dyn FnMut(Event<'_>));

    /// Takes the end of the stream, whatever its reason. Dialects without a terminal event say here whether the stream
    /// was complete.
    fn handle_end(&mut self, sink: &mut dyn FnMut(Event<'_>));
}
