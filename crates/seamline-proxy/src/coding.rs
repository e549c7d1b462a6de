//! Decodes compressed request bodies, with a bound on the decoded size.

use std::io::Read;

use bytes::Bytes;

/// The longest window of a zstd frame, as a power of two: 8 MB, which RFC 9659 sets for HTTP.
const WINDOW_LOG_MAX: u32 = 23;

/// The size of the buffer of the brotli decoder.
const BUFFER_BYTES: usize = 4096;

/// A reason why a body is not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotDecoded {
    /// The coding is not known, or there are several.
    Unknown,
    /// The bytes are not valid in the coding.
    Invalid,
    /// The decoded body exceeds the limit.
    TooLarge,
}

/// The decoded body; the same bytes where there is no coding.
pub(crate) fn decode(coding: Option<&str>, body: &Bytes, bytes_max: usize) -> Result<Bytes, NotDecoded> {
    let coding = coding.map(|coding| coding.trim().to_ascii_lowercase());
    match coding.as_deref() {
        None | Some("" | "identity") => Ok(body.clone()),
        Some("gzip" | "x-gzip") => read(flate2::read::MultiGzDecoder::new(&body[..]), bytes_max),
        Some("deflate") => read(flate2::read::ZlibDecoder::new(&body[..]), bytes_max),
        Some("br") => read(brotli::Decompressor::new(&body[..], BUFFER_BYTES), bytes_max),
        Some("zstd") => {
            let mut decoder = zstd::stream::read::Decoder::new(&body[..]).map_err(|_| NotDecoded::Invalid)?;
            decoder.window_log_max(WINDOW_LOG_MAX).map_err(|_| NotDecoded::Invalid)?;
            read(decoder, bytes_max)
        }
        Some(_) => Err(NotDecoded::Unknown),
    }
}

fn read(decoder: impl Read, bytes_max: usize) -> Result<Bytes, NotDecoded> {
    let mut decoded = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(limit).read_to_end(&mut decoded).map_err(|_| NotDecoded::Invalid)?;
    if decoded.len() > bytes_max {
        return Err(NotDecoded::TooLarge);
    }
    Ok(decoded.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

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
        let body = vec![b'x'; 100_000];
        for coding in ["gzip", "br", "zstd"] {
            let coded = coded(coding, &body);
            assert_eq!(decode(Some(coding), &coded, body.len()).unwrap(), body, "{coding}");
            assert_eq!(decode(Some(coding), &coded, body.len() - 1), Err(NotDecoded::TooLarge), "{coding}");
            assert_eq!(decode(Some(coding), &coded.slice(..coded.len() / 2), body.len()), Err(NotDecoded::Invalid));
        }
        assert_eq!(decode(Some("lzma"), &Bytes::new(), 1), Err(NotDecoded::Unknown));
        assert_eq!(decode(Some("gzip, br"), &Bytes::new(), 1), Err(NotDecoded::Unknown));
        assert_eq!(decode(None, &Bytes::from_static(b"{}"), 1).unwrap(), "{}");
    }
}
