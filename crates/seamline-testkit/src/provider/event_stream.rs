//! The framing of AWS event streams, with both checksums.

/// The number of bytes before the headers, and of the checksum at the end.
const PRELUDE_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
/// The type of a header whose value is a text.
const TEXT: u8 = 7;

/// A message with these headers, whose values are texts of less than 64 KiB.
pub(super) fn message(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut written = Vec::new();
    for (name, value) in headers {
        written.push(name.len() as u8);
        written.extend(name.as_bytes());
        written.push(TEXT);
        written.extend((value.len() as u16).to_be_bytes());
        written.extend(value.as_bytes());
    }
    let total = PRELUDE_BYTES + written.len() + payload.len() + CHECKSUM_BYTES;
    let mut message = Vec::with_capacity(total);
    message.extend((total as u32).to_be_bytes());
    message.extend((written.len() as u32).to_be_bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message.extend(written);
    message.extend(payload);
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message
}

/// An event of a response.
pub(super) fn event(kind: &str, payload: &[u8]) -> Vec<u8> {
    let headers = [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")];
    message(&headers, payload)
}

/// The message by which a stream says that it failed.
pub(super) fn exception(kind: &str, payload: &[u8]) -> Vec<u8> {
    let headers = [(":exception-type", kind), (":content-type", "application/json"), (":message-type", "exception")];
    message(&headers, payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_headers_is_that_of_the_specification() {
        // The empty message among the test vectors of the AWS SDKs.
        let expected = [0, 0, 0, 16, 0, 0, 0, 0, 0x05, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff];
        assert_eq!(message(&[], b""), expected);
    }

    #[test]
    fn the_lengths_and_checksums_cover_the_headers_and_the_payload() {
        let written = event("messageStop", b"{}");
        let number = |at: usize| u32::from_be_bytes(written[at..at + 4].try_into().unwrap());
        let end = written.len() - CHECKSUM_BYTES;
        assert_eq!((number(0) as usize, number(8)), (written.len(), crc32fast::hash(&written[..8])));
        assert_eq!(number(end), crc32fast::hash(&written[..end]));
        assert_eq!(&written[PRELUDE_BYTES..][..13], b"\x0b:event-type\x07");
        assert_eq!((number(4) as usize, &written[end - 2..end]), (written.len() - 18, &b"{}"[..]));
    }
}
