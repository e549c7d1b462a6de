//! Decodes compressed request bodies, with a bound on the decoded size.

use std::io::Read;

use bytes::Bytes;

use crate::room::{HeldBytes, NoRoom};

/// The longest window of a zstd frame, as a power of two: 8 MB, which RFC 9659 sets for HTTP.
const WINDOW_LOG_MAX: u32 = 23;

/// The size of the buffer of the brotli decoder.
const BUFFER_BYTES: usize = 4096;

/// The bytes that are decoded before they are counted.
const STEP_BYTES: usize = 256 * 1024;

/// A reason why a body is not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotDecoded {
    /// The coding is not known, or there are several.
    Unknown,
    /// The bytes are not valid in the coding.
    Invalid,
    /// The decoded body exceeds the limit.
    TooLarge,
    /// The bodies of all requests take the whole room.
    NoRoom(NoRoom),
}

/// The decoded body; the same bytes where there is no coding.
pub(crate) fn decode(coding: Option<&str>, body: &Bytes, bytes_max: usize) -> Result<Bytes, NotDecoded> {
    decode_counted(coding, body, bytes_max, |_| Ok(()))
}

/// The decoded body, whose bytes are counted among those of the request while they are made.
pub(crate) fn decode_within(
    coding: Option<&str>,
    body: &Bytes,
    bytes_max: usize,
    held: &mut HeldBytes,
) -> Result<Bytes, NotDecoded> {
    decode_counted(coding, body, bytes_max, |bytes| held.grow(bytes))
}

fn decode_counted(
    coding: Option<&str>,
    body: &Bytes,
    bytes_max: usize,
    count: impl FnMut(usize) -> Result<(), NoRoom>,
) -> Result<Bytes, NotDecoded> {
    let coding = coding.map(|coding| coding.trim().to_ascii_lowercase());
    match coding.as_deref() {
        None | Some("" | "identity") => Ok(body.clone()),
        Some("gzip" | "x-gzip") => read(flate2::read::MultiGzDecoder::new(&body[..]), bytes_max, count),
        Some("deflate") => read(flate2::read::ZlibDecoder::new(&body[..]), bytes_max, count),
        Some("br") => read(brotli::Decompressor::new(&body[..], BUFFER_BYTES), bytes_max, count),
        Some("zstd") => {
            let mut decoder = zstd::stream::read::Decoder::new(&body[..]).map_err(|_| NotDecoded::Invalid)?;
            decoder.window_log_max(WINDOW_LOG_MAX).map_err(|_| NotDecoded::Invalid)?;
            read(decoder, bytes_max, count)
        }
        Some(_) => Err(NotDecoded::Unknown),
    }
}

fn read(
    mut decoder: impl Read,
    bytes_max: usize,
    mut count: impl FnMut(usize) -> Result<(), NoRoom>,
) -> Result<Bytes, NotDecoded> {
    let mut decoded = Vec::new();
    loop {
        let limit = (bytes_max - decoded.len()).saturating_add(1).min(STEP_BYTES);
        let mut step = decoder.by_ref().take(limit as u64);
        let read = step.read_to_end(&mut decoded).map_err(|_| NotDecoded::Invalid)?;
        if decoded.len() > bytes_max {
            return Err(NotDecoded::TooLarge);
        }
        count(read).map_err(NotDecoded::NoRoom)?;
        if read < limit {
            return Ok(decoded.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::room::BodyRoom;

    fn coded(coding: &str, body: &[u8]) -> Bytes {
        let coded = match coding {
            "gzip" => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(body).unwrap();
                encoder.finish().unwrap()
            }
            "br" => {
                let mut coded = Vec::new();
                let mut encoder = brotli::CompressorWriter::new(&mut coded, BUFFER_BYTES, 1, 20);
                encoder.write_all(body).unwrap();
                drop(encoder);
                coded
            }
            _ => zstd::encode_all(body, 1).unwrap(),
        };
        coded.into()
    }

    #[test]
    fn every_coding_is_read_up_to_the_limit() {
        let body = vec![b'x'; 600_000];
        for coding in ["gzip", "br", "zstd"] {
            let coded = coded(coding, &body);
            assert_eq!(decode(Some(coding), &coded, body.len()).unwrap(), body, "{coding}");
            assert_eq!(decode(Some(coding), &coded, body.len() - 1), Err(NotDecoded::TooLarge), "{coding}");
            let within = |room| decode_within(Some(coding), &coded, body.len(), &mut BodyRoom::default().enter(room));
            assert_eq!(within(body.len()).unwrap(), body, "{coding}");
            assert_eq!(within(body.len() - 1), Err(NotDecoded::NoRoom(NoRoom)), "{coding}");
            assert_eq!(decode(Some(coding), &coded.slice(..coded.len() / 2), body.len()), Err(NotDecoded::Invalid));
        }
        assert_eq!(decode(Some("lzma"), &Bytes::new(), 1), Err(NotDecoded::Unknown));
        assert_eq!(decode(Some("gzip, br"), &Bytes::new(), 1), Err(NotDecoded::Unknown));
        assert_eq!(decode(None, &Bytes::from_static(b"{}"), 1).unwrap(), "{}");
    }
}
