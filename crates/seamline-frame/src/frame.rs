//! What a stream is cut into.

/// One frame of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'f> {
    /// What sort of frame it is.
    pub kind: FrameKind,
    /// What the framing calls it: the event's name, the type of an AWS message. Empty when
    /// it has none.
    pub name: &'f [u8],
    /// What it holds.
    pub data: &'f [u8],
}

impl<'f> Frame<'f> {
    /// An event without a name.
    pub(crate) fn unnamed(data: &'f [u8]) -> Self {
        Self { kind: FrameKind::Event, name: b"", data }
    }
}

/// What sort of frame it is, as far as the framing says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// What the stream is made of.
    Event,
    /// The framing itself says that the request failed: AWS calls it an exception or an error.
    Exception,
    /// The stream ended before the frame was closed. It may be whole for all that, as where
    /// only the last line break is missing.
    Cut,
    /// The list whose elements the stream is made of was closed, and this stands behind it.
    Behind,
}

/// What a stream may take at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest frame, in bytes. What is cut is kept until its frame is whole, so this is
    /// what a framer may come to hold.
    pub frame_bytes_max: usize,
}

impl Default for Limits {
    /// The largest response that is known to come in one frame is a generated picture.
    fn default() -> Self {
        Self { frame_bytes_max: 64 * 1024 * 1024 }
    }
}
