//! The cuts of a stream make no difference.

use proptest::prelude::*;
use seamline_frame::{FrameLimits, Framing};

use crate::aws;
use crate::bench::frames;

const FRAMINGS: [Framing; 4] = [Framing::Sse, Framing::JsonLines, Framing::JsonArray, Framing::AwsEventStream];

/// Checks that every cut gives the same frames, and the same error if the stream fails.
fn check_every_cut(framing: Framing, limits: FrameLimits, stream: &[u8]) {
    let whole = frames(framing, limits, &[stream]);
    for cut in 0..=stream.len() {
        let (one, other) = stream.split_at(cut);
        assert_eq!(frames(framing, limits, &[one, other]), whole, "{framing:?} cut at {cut}");
    }
    for size in [1, 2, 3, 7] {
        let pieces: Vec<_> = stream.chunks(size).collect();
        assert_eq!(frames(framing, limits, &pieces), whole, "{framing:?} in pieces of {size}");
    }
}

#[test]
fn streams_of_every_framing_give_the_same_frames_at_every_cut() {
    let sse = "\u{feff}: hi\r\n\r\nevent: a\r\ndata: é {\"x\":\"}\"}\r\n\r\n{\"error\":\r\n1}\r\rdata: 1\ndata: 2\n\ndata: [DONE]";
    let lines = "{\"a\":\"\\\"}\"}\r\n\n[1,\n2]\nword\n{\"cut\":";
    let array = "[{\"a\":\"]\\\\\"}\n,\n{\"b\":{}}]\n{\"late\":1}";
    for stream in [sse, lines, array] {
        for framing in FRAMINGS {
            check_every_cut(framing, FrameLimits::default(), stream.as_bytes());
        }
    }
    check_every_cut(Framing::AwsEventStream, FrameLimits::default(), &aws::stream());
}

/// Parts of valid and broken streams.
const PIECES: [&[u8]; 21] = [
    b"data: ",
    b"data:",
    b"event: x",
    b":",
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b",",
    b" ",
    b"word",
    b"[DONE]",
    b"\ndata: {}\n",
    b"\xef\xbb\xbf",
    b"\xff\x00",
];

fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_give_the_same_frames_at_every_cut(stream in stream(), max in 1_usize..40) {
        for framing in FRAMINGS {
            check_every_cut(framing, FrameLimits { frame_bytes_max: max }, &stream);
        }
    }
}
