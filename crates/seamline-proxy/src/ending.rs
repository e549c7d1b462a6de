//! Ends a stream that its upstream did not complete, with the error event of its dialect.
//!
//! An event can be added only between two events. Inside one, only the end of the connection tells the client.

use bytes::Bytes;
use seamline::responses::{FailedEvent, FailedStream, FailureCause, failed_event};
use seamline::stream::Framing;
use serde_json::json;

use crate::observe::Stalled;

/// The reason why a stream ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamFailure {
    /// The upstream closed the connection.
    Broken,
    /// The upstream sent no content for too long.
    Stalled(Stalled),
}

impl StreamFailure {
    fn cause(self) -> FailureCause {
        match self {
            Self::Broken => FailureCause::Broken,
            Self::Stalled(_) => FailureCause::Stalled,
        }
    }

    /// The words by which clients know a failure that is worth another attempt.
    fn message(self) -> &'static str {
        match self {
            Self::Broken => {
                "The service is unavailable: the provider closed the connection before the response was complete."
            }
            Self::Stalled(Stalled::Silent) => "The response timed out: the provider sent nothing for too long.",
            Self::Stalled(Stalled::Alive) => {
                "The response timed out: the provider sent signs of life, and no content for too long."
            }
        }
    }
}

/// The place that a stream has reached: inside an event, or between two.
#[derive(Debug)]
pub(crate) struct Tail {
    framing: Framing,
    place: Place,
    /// The last piece, in which the number of the last event is looked for.
    last: Bytes,
}

#[derive(Debug)]
enum Place {
    /// The last bytes of the stream, the latest at the end.
    Lines([u8; 4]),
    Array(ArrayPlace),
    /// The bytes of the message so far, and its length once the first four bytes are known.
    Messages {
        start: [u8; 4],
        seen: usize,
    },
}

/// The place in a JSON array of objects.
#[derive(Debug, Default)]
struct ArrayPlace {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    has_element: bool,
}

impl Tail {
    pub(crate) fn new(framing: Framing) -> Self {
        let place = match framing {
            Framing::JsonArray => Place::Array(ArrayPlace::default()),
            Framing::AwsEventStream => Place::Messages { start: [0; 4], seen: 0 },
            _ => Place::Lines(*b"\n\n\n\n"),
        };
        Self { framing, place, last: Bytes::new() }
    }

    /// Takes the next piece of the stream.
    pub(crate) fn handle_piece(&mut self, piece: &Bytes) {
        match &mut self.place {
            Place::Lines(last) => {
                for &byte in &piece[piece.len().saturating_sub(last.len())..] {
                    last.rotate_left(1);
                    last[3] = byte;
                }
            }
            Place::Array(place) => piece.iter().for_each(|byte| place.handle_byte(*byte)),
            Place::Messages { start, seen } => handle_messages(start, seen, piece),
        }
        self.last = piece.clone();
    }

    /// The bytes that end the stream as a failed one; `None` inside an event.
    pub(crate) fn failed(&self, dialect: &str, failure: StreamFailure) -> Option<Bytes> {
        let failed = FailedStream { message: failure.message(), cause: failure.cause(), last: &self.last };
        let event = match (&self.place, self.framing) {
            (Place::Lines(last), Framing::Sse) => {
                let close = if ends_with_blank(*last) { "" } else { line_end(*last)? };
                format!("{close}{}", event(dialect, &failed)).into_bytes()
            }
            (Place::Array(place), _) => {
                let start = place.start()?;
                format!("{start}{}\n]\n", failed_event(dialect, &failed).data).into_bytes()
            }
            (Place::Messages { seen: 0, .. }, _) => exception(failure),
            (Place::Lines(_) | Place::Messages { .. }, _) => return None,
        };
        Some(event.into())
    }
}

fn ends_with_blank(last: [u8; 4]) -> bool {
    last.ends_with(b"\n\n") || last.ends_with(b"\r\r") || last.ends_with(b"\n\r\n")
}

/// The line that completes an event after the end of a line.
fn line_end(last: [u8; 4]) -> Option<&'static str> {
    matches!(last[3], b'\n' | b'\r').then_some("\n")
}

impl ArrayPlace {
    fn handle_byte(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.has_element |= self.depth == 1;
            }
            // A comma at the end promises another element.
            b',' if self.depth == 1 => self.has_element = false,
            _ => {}
        }
    }

    /// The bytes before a further element; `None` inside an element, and before and after the array.
    fn start(&self) -> Option<&'static str> {
        (self.depth == 1 && !self.in_string).then_some(if self.has_element { "," } else { "" })
    }
}

/// Steps over whole messages, each of which starts with its length in four bytes.
fn handle_messages(start: &mut [u8; 4], seen: &mut usize, mut piece: &[u8]) {
    while !piece.is_empty() {
        if *seen < start.len() {
            start[*seen] = piece[0];
            *seen += 1;
            piece = &piece[1..];
            continue;
        }
        let length = (u32::from_be_bytes(*start) as usize).max(start.len());
        let step = (length - *seen).min(piece.len());
        *seen += step;
        piece = &piece[step..];
        if *seen == length {
            *seen = 0;
        }
        if step == 0 {
            // The length is not that of a message, so the framing is unknown from here on.
            *seen = start.len() + 1;
            *start = u32::MAX.to_be_bytes();
            return;
        }
    }
}

/// The event of a stream of server-sent events.
fn event(dialect: &str, failed: &FailedStream<'_>) -> String {
    let FailedEvent { name, data } = failed_event(dialect, failed);
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

/// The message by which an event stream of AWS says that it failed.
fn exception(failure: StreamFailure) -> Vec<u8> {
    const TEXT: u8 = 7;
    let payload = json!({"message": failure.message(), "originalStatusCode": 500}).to_string();
    let mut headers = Vec::new();
    for (name, value) in [
        (":exception-type", "modelStreamErrorException"),
        (":content-type", "application/json"),
        (":message-type", "exception"),
    ] {
        headers.push(name.len() as u8);
        headers.extend(name.as_bytes());
        headers.push(TEXT);
        headers.extend((value.len() as u16).to_be_bytes());
        headers.extend(value.as_bytes());
    }
    let total = 12 + headers.len() + payload.len() + 4;
    let mut message = Vec::with_capacity(total);
    message.extend((total as u32).to_be_bytes());
    message.extend((headers.len() as u32).to_be_bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message.extend(headers);
    message.extend(payload.as_bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message
}

#[cfg(test)]
mod tests;
