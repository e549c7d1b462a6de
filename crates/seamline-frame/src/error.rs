//! Why a stream could not be cut into frames.

/// Why a stream could not be cut into frames, and where. The frames before it are right;
/// nothing after it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (the one that begins at byte {offset} of the stream)")]
pub struct Error {
    /// The byte of the stream at which the frame begins that is wrong.
    pub offset: u64,
    /// What is wrong with it.
    pub kind: ErrorKind,
}

/// What is wrong with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It is longer than [`Limits::frame_bytes_max`](crate::Limits::frame_bytes_max).
    #[error("a frame is longer than {0} bytes")]
    TooLong(usize),
    /// A message of an AWS event stream whose checksum does not fit.
    #[error("the checksum of a message does not fit")]
    Checksum,
    /// A message of an AWS event stream whose lengths contradict each other.
    #[error("the lengths of a message contradict each other")]
    Lengths,
    /// Something that is no value stands between the elements of a list.
    #[error("what stands between two elements of a list is no comma")]
    Between,
}
