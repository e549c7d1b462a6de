//! The bytes of a stream to its frames.
//!
//! A response that is streamed comes in pieces that are cut anywhere. A [`Framer`] takes them
//! and gives the frames in them: the events of an event stream, the lines of JSON lines, the
//! elements of a JSON array, the messages of an AWS event stream. What a frame says is none of
//! its business; it works on bytes, and how they are cut makes no difference.
//!
//! ```
//! use seamline_frame::{Framer, Framing, Limits};
//!
//! let mut framer = Framer::new(Framing::Sse, Limits::default());
//! let mut said = Vec::new();
//! for piece in [&b"event: ping\r\nda"[..], b"ta: {}\r\n\r\ndata: a\ndata: b\n\n", b"data: [DONE]"] {
//!     framer.feed(piece, |frame| said.push((frame.name.to_vec(), frame.data.to_vec())))?;
//! }
//! framer.finish(|frame| said.push((frame.name.to_vec(), frame.data.to_vec())))?;
//! let said: Vec<_> = said.iter().map(|(name, data)| (&name[..], &data[..])).collect();
//! assert_eq!(said, [(&b"ping"[..], &b"{}"[..]), (b"", b"a\nb"), (b"", b"[DONE]")]);
//! # Ok::<(), seamline_frame::Error>(())
//! ```
//!
//! A frame that lies in one piece is given out of it; only what is cut is copied.
#![deny(clippy::disallowed_methods)]

mod aws_event_stream;
mod error;
mod frame;
mod framer;
mod json_values;
mod nesting;
mod sse;

pub use error::{Error, ErrorKind};
pub use frame::{Frame, FrameKind, Limits};
pub use framer::{Framer, Framing};
