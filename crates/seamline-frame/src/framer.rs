//! A framer for any framing.

use crate::aws_event_stream::AwsEventStream;
use crate::json_values::{JsonValues, Layout};
use crate::sse::Sse;
use crate::{Error, Frame, FrameLimits};

/// How a stream is cut into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events, as in the HTML standard.
    Sse,
    /// Lines of JSON.
    JsonLines,
    /// The elements of one JSON array.
    JsonArray,
    /// AWS event streams: `application/vnd.amazon.eventstream`.
    AwsEventStream,
}

impl Framing {
    /// The framing that a content type names.
    ///
    /// ```
    /// use seamline_frame::Framing;
    ///
    /// assert_eq!(Framing::of_content_type("text/event-stream; charset=utf-8"), Some(Framing::Sse));
    /// assert_eq!(Framing::of_content_type("text/html"), None);
    /// ```
    pub fn of_content_type(content_type: &str) -> Option<Self> {
        let name = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        match name.as_str() {
            "text/event-stream" => Some(Self::Sse),
            "application/x-ndjson" | "application/jsonl" | "application/jsonlines" | "application/x-jsonlines" => {
                Some(Self::JsonLines)
            }
            "application/json" => Some(Self::JsonArray),
            "application/vnd.amazon.eventstream" => Some(Self::AwsEventStream),
            _ => None,
        }
    }

    /// The framing that the first bytes of a stream look like; server-sent events by default.
    ///
    /// ```
    /// use seamline_frame::Framing;
    ///
    /// assert_eq!(Framing::of_start(b"data: {}\n\n"), Framing::Sse);
    /// assert_eq!(Framing::of_start(b"[{"), Framing::JsonArray);
    /// assert_eq!(Framing::of_start(b"\n{\"a\":1}\n"), Framing::JsonLines);
    /// ```
    pub fn of_start(bytes: &[u8]) -> Self {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        match (text.first(), bytes.first()) {
            // An AWS message is shorter than 16 MB, so its first byte is zero.
            (_, Some(0)) => Self::AwsEventStream,
            (Some(b'['), _) => Self::JsonArray,
            (Some(b'{'), _) => Self::JsonLines,
            _ => Self::Sse,
        }
    }
}

/// Cuts a stream into frames. After an error it accepts nothing more.
#[derive(Debug)]
pub struct Framer {
    kind: Kind,
    failed: Option<Error>,
}

#[derive(Debug)]
enum Kind {
    Sse(Box<Sse>),
    JsonValues(JsonValues),
    AwsEventStream(AwsEventStream),
}

impl Framer {
    /// A framer for a new stream.
    pub fn new(framing: Framing, limits: FrameLimits) -> Self {
        let kind = match framing {
            Framing::Sse => Kind::Sse(Box::new(Sse::new(limits))),
            Framing::JsonLines => Kind::JsonValues(JsonValues::new(Layout::Lines, limits)),
            Framing::JsonArray => Kind::JsonValues(JsonValues::new(Layout::List, limits)),
            Framing::AwsEventStream => Kind::AwsEventStream(AwsEventStream::new(limits)),
        };
        Self { kind, failed: None }
    }

    /// Takes the next piece of the stream and emits the frames that it completes.
    ///
    /// # Errors
    ///
    /// If a frame is too long or violates the framing. Every later call returns the same error.
    pub fn feed(&mut self, piece: &[u8], mut sink: impl FnMut(Frame<'_>)) -> Result<(), Error> {
        self.check_not_failed()?;
        let fed = match &mut self.kind {
            Kind::Sse(sse) => sse.feed(piece, &mut sink),
            Kind::JsonValues(values) => values.feed(piece, &mut sink),
            Kind::AwsEventStream(messages) => messages.feed(piece, &mut sink),
        };
        self.failed = fed.err();
        fed
    }

    /// Ends the stream and emits the rest as [`FrameKind::Cut`](crate::FrameKind::Cut).
    ///
    /// # Errors
    ///
    /// As [`feed`](Self::feed).
    pub fn finish(&mut self, mut sink: impl FnMut(Frame<'_>)) -> Result<(), Error> {
        self.check_not_failed()?;
        match &mut self.kind {
            Kind::Sse(sse) => sse.finish(&mut sink),
            Kind::JsonValues(values) => values.finish(&mut sink),
            Kind::AwsEventStream(messages) => {
                messages.finish(&mut sink);
                Ok(())
            }
        }
        .inspect_err(|error| self.failed = Some(*error))
    }

    /// Whether the framer has failed and accepts nothing more.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn check_not_failed(&self) -> Result<(), Error> {
        self.failed.map_or(Ok(()), Err)
    }
}
