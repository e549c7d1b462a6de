//! Decodes a copy of a compressed stream, piece by piece, with a bound on the decoded size.

use std::io::{self, Write};

use flate2::write::{MultiGzDecoder, ZlibDecoder};

/// The largest decoded form of one piece. A stream with a larger one is not read.
const PIECE_BYTES_MAX: usize = 1 << 20;

/// The size of the buffer of the brotli decoder.
const BUFFER_BYTES: usize = 4096;

/// A decoder of a stream.
pub(crate) struct Unpacker(Decoder);

enum Decoder {
    Gzip(MultiGzDecoder<Bounded>),
    Deflate(ZlibDecoder<Bounded>),
    Brotli(Box<brotli::DecompressorWriter<Bounded>>),
    Zstd(zstd::stream::write::Decoder<'static, Bounded>),
}

impl Unpacker {
    /// A decoder of a coding; `None` where the coding is not known.
    pub(crate) fn new(coding: &str) -> Option<Self> {
        let sink = Bounded::default();
        let decoder = match coding.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Decoder::Gzip(MultiGzDecoder::new(sink)),
            "deflate" => Decoder::Deflate(ZlibDecoder::new(sink)),
            "br" => Decoder::Brotli(Box::new(brotli::DecompressorWriter::new(sink, BUFFER_BYTES))),
            "zstd" => Decoder::Zstd(zstd::stream::write::Decoder::new(sink).ok()?),
            _ => return None,
        };
        Some(Self(decoder))
    }

    /// Decodes the next piece as far as it goes; `None` where it is not valid or too large.
    pub(crate) fn unpack(&mut self, piece: &[u8]) -> Option<Vec<u8>> {
        self.sink().bytes.clear();
        self.write(piece).ok()?;
        Some(std::mem::take(&mut self.sink().bytes))
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        let decoder: &mut dyn Write = match &mut self.0 {
            Decoder::Gzip(decoder) => decoder,
            Decoder::Deflate(decoder) => decoder,
            Decoder::Brotli(decoder) => decoder,
            Decoder::Zstd(decoder) => decoder,
        };
        decoder.write_all(piece)?;
        decoder.flush()
    }

    fn sink(&mut self) -> &mut Bounded {
        match &mut self.0 {
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => decoder.get_mut(),
            Decoder::Brotli(decoder) => decoder.get_mut(),
            Decoder::Zstd(decoder) => decoder.get_mut(),
        }
    }
}

/// The decoded bytes of one piece, up to the limit.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > PIECE_BYTES_MAX {
            return Err(io::Error::other("the decoded piece is too large"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames of a stream in a coding, each of which can be decoded when it arrives.
    fn coded(coding: &str, frames: &[&str]) -> Vec<Vec<u8>> {
        fn flushed<W: Write>(mut encoder: W, frames: &[&str], written: impl Fn(&mut W) -> Vec<u8>) -> Vec<Vec<u8>> {
            let pieces = frames.iter().map(|frame| {
                encoder.write_all(frame.as_bytes()).unwrap();
                encoder.flush().unwrap();
                written(&mut encoder)
            });
            pieces.collect()
        }
        match coding {
            "gzip" => {
                let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                flushed(encoder, frames, |encoder| std::mem::take(encoder.get_mut()))
            }
            "deflate" => {
                let encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
                flushed(encoder, frames, |encoder| std::mem::take(encoder.get_mut()))
            }
            "br" => {
                let encoder = brotli::CompressorWriter::new(Vec::new(), BUFFER_BYTES, 1, 20);
                flushed(encoder, frames, |encoder| std::mem::take(encoder.get_mut()))
            }
            _ => {
                let encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
                flushed(encoder, frames, |encoder| std::mem::take(encoder.get_mut()))
            }
        }
    }

    #[test]
    fn each_piece_is_decoded_when_it_arrives() {
        let frames = ["data: {\"a\":1}\n\n", "data: {\"b\":2}\n\n", "data: [DONE]\n\n"];
        for coding in ["gzip", "deflate", "br", "zstd"] {
            let mut unpacker = Unpacker::new(coding).unwrap();
            for (piece, frame) in coded(coding, &frames).iter().zip(frames) {
                let decoded = unpacker.unpack(piece).unwrap();
                assert_eq!(String::from_utf8(decoded).unwrap(), frame, "{coding}");
            }
        }
        assert!(Unpacker::new("lzma").is_none());
    }

    #[test]
    fn a_piece_that_is_not_valid_or_too_large_ends_the_decoding() {
        let bomb = " ".repeat(2 * PIECE_BYTES_MAX);
        for coding in ["gzip", "deflate", "br", "zstd"] {
            assert_eq!(Unpacker::new(coding).unwrap().unpack(&coded(coding, &[&bomb])[0]), None, "{coding}");
        }
        assert_eq!(Unpacker::new("gzip").unwrap().unpack(b"not compressed at all"), None);
    }
}
