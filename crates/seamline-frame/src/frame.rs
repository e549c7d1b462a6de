//! The frames of a stream.

/// One frame of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'f> {
    /// The sort of frame.
    pub kind: FrameKind,
    /// The name in the framing: the event name, or the type of an AWS message. Empty if it has none.
    pub name: &'f [u8],
    /// The payload of the frame.
    pub data: &'f [u8],
}

impl<'f> Frame<'f> {
    /// An event without a name.
    pub(crate) fn unnamed(data: &'f [u8]) -> Self {
        Self { kind: FrameKind::Event, name: b"", data }
    }
}

/// The sort of frame, as far as the framing says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// A normal event.
    Event,
    /// The framing itself reports a failed request: an exception or error of AWS.
    Exception,
    /// The stream ended before the frame was closed. The frame may still be complete, if only the last line break is
    /// missing.
    Cut,
    /// The frame comes after the end of the list whose elements are the stream.
    Behind,
}

/// The limits of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimits {
    /// The longest frame, in bytes. A framer keeps an incomplete frame until it is complete, so this also limits its
    /// memory.
    pub frame_bytes_max: usize,
}

impl Default for FrameLimits {
    /// The largest known response in one frame is a generated image.
    fn default() -> Self {
        Self { frame_bytes_max: 64 * 1024 * 1024 }
    }
}
