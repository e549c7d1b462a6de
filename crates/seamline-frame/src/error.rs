//! Errors of cutting a stream into frames.

/// Why a stream could not be cut into frames, and where. Earlier frames are correct; nothing after the error is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (at byte {offset} of the stream)")]
pub struct Error {
    /// The byte offset of the faulty frame in the stream.
    pub offset: u64,
    /// The kind of error.
    pub kind: ErrorKind,
}

/// The kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A frame is longer than [`FrameLimits::frame_bytes_max`](crate::FrameLimits::frame_bytes_max).
    #[error("a frame is longer than {0} bytes")]
    TooLong(usize),
    /// A message of an AWS event stream has a wrong checksum.
    #[error("the checksum of a message is wrong")]
    Checksum,
    /// A message of an AWS event stream has contradictory lengths.
    #[error("the lengths in a message contradict each other")]
    Lengths,
    /// The elements of a list are not separated by a comma.
    #[error("two elements of a list are not separated by a comma")]
    Between,
}
