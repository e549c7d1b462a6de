//! Lines of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Line(Vec<u8>),
    /// A line that is longer than the limit. It was skipped.
    TooLong,
    End,
}

/// Reads the next line, without its end. The last one needs none.
pub(crate) async fn next(input: &mut (impl AsyncBufRead + Unpin), bytes_max: usize) -> io::Result<Read> {
    let mut line = Vec::new();
    let mut is_long = false;
    loop {
        let piece = input.fill_buf().await?;
        if piece.is_empty() {
            return Ok(if is_long {
                Read::TooLong
            } else if line.is_empty() {
                Read::End
            } else {
                Read::Line(line)
            });
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let part = &piece[..end.unwrap_or(piece.len())];
        is_long |= line.len() + part.len() > bytes_max;
        if is_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() {
            return Ok(if is_long { Read::TooLong } else { Read::Line(line) });
        }
    }
}
