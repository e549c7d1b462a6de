//! Content codings: those of requests are removed, and responses may be compressed.

use std::io::{Read as _, Result, Write as _};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};

/// The most bytes of a body after its coding is removed.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The size of the buffer of a decoder.
const BUFFER_BYTES: usize = 16 * 1024;

/// Removes the content coding of a body. Gives nothing for a coding that the provider does not know.
pub(super) fn decode(coding: &str, bytes: &[u8]) -> Option<Result<Vec<u8>>> {
    let mut decoded = Vec::new();
    let read = match coding.to_ascii_lowercase().as_str() {
        "" | "identity" => return Some(Ok(bytes.to_vec())),
        "gzip" | "x-gzip" => MultiGzDecoder::new(bytes).take(BYTES_MAX).read_to_end(&mut decoded),
        "zstd" => zstd::Decoder::new(bytes).and_then(|decoder| decoder.take(BYTES_MAX).read_to_end(&mut decoded)),
        "br" => {
            let decoder = brotli::Decompressor::new(bytes, BUFFER_BYTES);
            decoder.take(BYTES_MAX).read_to_end(&mut decoded)
        }
        _ => return None,
    };
    Some(read.map(|_| decoded))
}

/// Compresses the frames of a response so that each can be read when it arrives.
pub(super) fn gzip(frames: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let mut compressed = Vec::with_capacity(frames.len());
    for frame in frames {
        encoder.write_all(frame)?;
        encoder.flush()?;
        compressed.push(std::mem::take(encoder.get_mut()));
    }
    let end = encoder.finish()?;
    match compressed.last_mut() {
        Some(last) => last.extend(end),
        None => compressed.push(end),
    }
    Ok(compressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_frames_are_read_one_by_one() {
        let frames = gzip(&[b"one ".to_vec(), b"two".to_vec()]).unwrap();
        let mut first = [0; 4];
        MultiGzDecoder::new(&frames[0][..]).read_exact(&mut first).unwrap();
        assert_eq!((&first, frames.len()), (b"one ", 2));
        assert_eq!(decode("GZIP", &frames.concat()).unwrap().unwrap(), b"one two");
    }

    #[test]
    fn the_codings_of_requests_are_removed() {
        let packed = zstd::encode_all(&b"hello"[..], 0).unwrap();
        assert_eq!(decode("zstd", &packed).unwrap().unwrap(), b"hello");
        // A stored block, as the format defines it.
        let stored = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(decode("br", &stored).unwrap().unwrap(), b"hello");
        assert_eq!(decode("identity", b"hello").unwrap().unwrap(), b"hello");
        assert!(decode("gzip", b"hello").unwrap().is_err());
        assert!(decode("compress", b"hello").is_none());
    }
}
