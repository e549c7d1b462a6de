//! AWS event streams.

use seamline_frame::{ErrorKind, FrameLimits, Framing};

use crate::bench::{frames, said};

/// A message as the service writes it.
pub(crate) fn message(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).unwrap());
        head.extend_from_slice(name.as_bytes());
        head.push(7);
        head.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let total = u32::try_from(16 + head.len() + payload.len()).unwrap();
    let mut out = [total.to_be_bytes(), u32::try_from(head.len()).unwrap().to_be_bytes()].concat();
    let checksum = crc32fast::hash(&out);
    out.extend_from_slice(&checksum.to_be_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(payload);
    let checksum = crc32fast::hash(&out);
    out.extend_from_slice(&checksum.to_be_bytes());
    out
}

fn event(name: &str, payload: &str) -> Vec<u8> {
    let headers = [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    message(&headers, payload.as_bytes())
}

pub(crate) fn stream() -> Vec<u8> {
    let thrown = [(":exception-type", "throttlingException"), (":message-type", "exception")];
    [
        event("messageStart", r#"{"role":"assistant"}"#),
        event("contentBlockStop", "{}"),
        message(&thrown, b"{\"message\":\"slow\"}"),
    ]
    .concat()
}

#[test]
fn messages_have_a_type_and_a_payload() {
    assert_eq!(
        said(Framing::AwsEventStream, &stream()),
        [r#"messageStart|{"role":"assistant"}"#, "contentBlockStop|{}", r#"!throttlingException|{"message":"slow"}"#]
    );
}

#[test]
fn an_incomplete_message_emits_no_data() {
    let whole = stream();
    assert_eq!(said(Framing::AwsEventStream, &whole[..whole.len() - 1]).last().map(String::as_str), Some("…|"));
}

#[test]
fn every_changed_bit_is_noticed() {
    let whole = event("messageStop", r#"{"stopReason":"end_turn"}"#);
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            let (kept, ended) = frames(Framing::AwsEventStream, FrameLimits::default(), &[&changed]);
            assert!(ended.is_err() && kept.is_empty(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn contradictory_lengths_are_rejected() {
    let mut wrong = [20_u32.to_be_bytes(), 5_u32.to_be_bytes()].concat();
    let checksum = crc32fast::hash(&wrong);
    wrong.extend_from_slice(&checksum.to_be_bytes());
    let (_, ended) = frames(Framing::AwsEventStream, FrameLimits::default(), &[&wrong]);
    assert_eq!(ended.unwrap_err().kind, ErrorKind::Lengths);
    let (_, ended) = frames(Framing::AwsEventStream, FrameLimits { frame_bytes_max: 16 }, &[&event("a", "{}")]);
    assert_eq!(ended.unwrap_err().kind, ErrorKind::TooLong(16));
}

#[test]
fn headers_of_every_type_are_skipped() {
    let mut head = Vec::new();
    for (kind, value) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (5, 8), (8, 8), (9, 16)] {
        head.extend_from_slice(&[1, b'x', kind]);
        head.resize(head.len() + value, 0xff);
    }
    head.extend_from_slice(&[1, b'b', 6, 0, 3, 1, 2, 3]);
    head.extend_from_slice(b"\x0b:event-type\x07\x00\x04ping");
    let total = u32::try_from(16 + head.len()).unwrap();
    let mut out = [total.to_be_bytes(), u32::try_from(head.len()).unwrap().to_be_bytes()].concat();
    out.extend_from_slice(&crc32fast::hash(&out).to_be_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(&crc32fast::hash(&out).to_be_bytes());
    assert_eq!(said(Framing::AwsEventStream, &out), ["ping|"]);
}
