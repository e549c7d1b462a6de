//! Files that are compressed with zstd, as Codex does with rollouts that it has not used for a while.

use std::borrow::Cow;
use std::io::{BufRead, Error, ErrorKind, Read, Result};

use zstd::stream::read::Decoder;

/// The first bytes of a compressed file.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The number of bytes that tell whether a file is compressed.
pub const MAGIC_BYTES: u64 = MAGIC.len() as u64;
/// The most bytes that a compressed file may hold. A few kilobytes can claim to hold any number of bytes.
pub const UNPACKED_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// The most memory that a frame may ask for while it is read, as a power of two: the limit of the `zstd` command.
const WINDOW_LOG_MAX: u32 = 27;
/// The level at which Codex compresses.
const LEVEL: i32 = 3;

/// The start of the error of a compressed file whose content ends too early or is damaged.
pub const DAMAGED: &str = "the compressed file is damaged or cut";

/// Whether a file is compressed, by its first bytes.
///
/// ```
/// use seamline_files::packed::{is_packed, pack, unpack};
///
/// let packed = pack(b"{\"type\":\"session_meta\"}\n")?;
/// assert!(is_packed(&packed) && !is_packed(b"{}"));
/// assert_eq!(&*unpack(&packed)?, b"{\"type\":\"session_meta\"}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes of a file without its compression; those of a file that is not compressed as they are.
///
/// # Errors
///
/// Fails when a compressed file is damaged or cut, or holds more than [`UNPACKED_BYTES_MAX`].
pub fn unpack(bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    if !is_packed(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut plain = Vec::new();
    reader(bytes)?.read_to_end(&mut plain)?;
    Ok(Cow::Owned(plain))
}

/// Compresses the bytes of a file.
///
/// # Errors
///
/// Fails when there is no memory for the compression.
pub fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    zstd::stream::encode_all(bytes, LEVEL)
}

/// Reads a compressed file piece by piece.
///
/// # Errors
///
/// Fails when there is no memory for the decompression. Reading fails when the file is damaged or cut, or holds more than
/// [`UNPACKED_BYTES_MAX`].
pub fn reader<'r>(input: impl BufRead + 'r) -> Result<impl Read + 'r> {
    let mut decoder = Decoder::with_buffer(input)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(Limited { decoder, left: UNPACKED_BYTES_MAX })
}

/// The first bytes of the content of a file. They may be fewer than asked for: the end of the file may be missing. A file
/// whose content cannot be read is given as it is.
pub(crate) fn head(bytes: &[u8], limit: usize) -> Cow<'_, [u8]> {
    let mut plain = Vec::new();
    if is_packed(bytes)
        && let Ok(reader) = reader(bytes)
    {
        // An error ends the content, and what comes before it counts.
        let _ = reader.take(limit as u64).read_to_end(&mut plain);
    }
    if plain.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(plain) }
}

/// A reader that fails where its content gets too long.
struct Limited<R> {
    decoder: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let damaged = |error: Error| Error::new(error.kind(), format!("{DAMAGED}: {error}"));
        let count = self.decoder.read(buffer).map_err(damaged)?;
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| Error::new(ErrorKind::FileTooLarge, "the compressed file holds too much"))?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_survives_and_a_cut_file_is_an_error() {
        let text = "{\"type\":\"response_item\"}\n".repeat(5000);
        let packed = pack(text.as_bytes()).unwrap();
        assert!(packed.len() < text.len() / 10);
        assert_eq!(&*unpack(&packed).unwrap(), text.as_bytes());
        assert!(unpack(&packed[..packed.len() - 1]).is_err());
        assert_eq!(&*unpack(b"{}").unwrap(), b"{}");
        let two = [packed.clone(), packed].concat();
        assert_eq!(unpack(&two).unwrap().len(), text.len() * 2);
    }

    #[test]
    fn the_head_of_a_cut_file_is_read() {
        let text: String =
            (0..200_000).map(|number: u32| number.wrapping_mul(2_654_435_761).to_string() + "\n").collect();
        let packed = pack(text.as_bytes()).unwrap();
        let part = head(&packed[..packed.len() / 2], 1000);
        assert_eq!(&*part, &text.as_bytes()[..1000]);
        assert_eq!(&*head(&MAGIC, 10), MAGIC);
        assert_eq!(&*head(b"{}", 10), b"{}");
    }

    #[test]
    fn a_file_that_holds_too_much_is_refused() {
        let mut limited = Limited { decoder: &[0_u8; 100][..], left: 99 };
        assert_eq!(limited.read_to_end(&mut Vec::new()).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
