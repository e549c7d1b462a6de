//! Cuts the bytes of a stream into frames.
//!
//! A streamed response arrives in pieces that are cut anywhere. A [`Framer`] takes them and emits the frames: events of
//! an event stream, lines of JSON, elements of a JSON array, or messages of an AWS event stream. It does not interpret
//! the frames. It works on bytes, and the cuts make no difference.
//!
//! ```
//! use seamline_frame::{Framer, Framing, FrameLimits};
//!
//! let mut framer = Framer::new(Framing::Sse, FrameLimits::default());
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
//! A frame inside one piece is not copied; only incomplete frames are.
#![deny(clippy::disallowed_methods)]

mod aws_event_stream;
mod error;
mod frame;
mod framer;
mod json_values;
mod nesting;
mod sse;

pub use error::{Error, ErrorKind};
pub use frame::{Frame, FrameKind, FrameLimits};
pub use framer::{Framer, Framing};
