//! Helpers of the tests.

use seamline_frame::{Error, FrameKind, FrameLimits, Framer, Framing};

/// An owned copy of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnedFrame {
    pub(crate) kind: FrameKind,
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

/// The frames of a stream that arrives in these pieces.
pub(crate) fn frames(framing: Framing, limits: FrameLimits, pieces: &[&[u8]]) -> (Vec<OwnedFrame>, Result<(), Error>) {
    let mut framer = Framer::new(framing, limits);
    let mut kept = Vec::new();
    let mut keep = |frame: seamline_frame::Frame<'_>| {
        let name = String::from_utf8_lossy(frame.name).into_owned();
        kept.push(OwnedFrame { kind: frame.kind, name, data: frame.data.to_vec() });
    };
    let mut fed = Ok(());
    for piece in pieces {
        fed = fed.and_then(|()| framer.feed(piece, &mut keep));
    }
    let ended = fed.and_then(|()| framer.finish(&mut keep));
    (kept, ended)
}

/// The frames of a stream as text: name and data; `…` marks a cut frame, `+` a frame after the end of the list, `!` an
/// exception.
pub(crate) fn said(framing: Framing, stream: &[u8]) -> Vec<String> {
    let (frames, ended) = frames(framing, FrameLimits::default(), &[stream]);
    assert_eq!(ended, Ok(()));
    let text = |frame: &OwnedFrame| {
        let mark = match frame.kind {
            FrameKind::Event => "",
            FrameKind::Exception => "!",
            FrameKind::Cut => "…",
            FrameKind::Behind => "+",
        };
        format!("{mark}{}|{}", frame.name, String::from_utf8_lossy(&frame.data))
    };
    frames.iter().map(text).collect()
}
