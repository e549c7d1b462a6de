//! Damaged streams: no damage causes a panic, and the laws hold.

use proptest::prelude::*;
use proptest::sample::Index;
use seamline::stream::{Ending, Response, StreamOptions};
use serde_json::Value;

use crate::streams::{Stream, assembled, fixtures};

/// The number of streams of each property, unless `PROPTEST_CASES` asks for more.
const CASES: u32 = 1500;

/// A kind of damage to the bytes of a stream.
#[derive(Debug, Clone)]
enum Damage {
    /// A byte is changed.
    Byte(Index, u8),
    /// Some bytes are missing.
    Gone(Index, usize),
    /// Some bytes arrive twice.
    Twice(Index, usize),
    /// A frame is missing, or arrives twice.
    Frame(Index, bool),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (any::<Index>(), 1..60_usize).prop_map(|(at, length)| Damage::Gone(at, length)),
        (any::<Index>(), 1..60_usize).prop_map(|(at, length)| Damage::Twice(at, length)),
        (any::<Index>(), any::<bool>()).prop_map(|(at, is_gone)| Damage::Frame(at, is_gone)),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let range = |at: &Index, length: usize, count: usize| {
            let start = at.index(count);
            start..count.min(start + length)
        };
        match self {
            Self::Byte(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Self::Gone(at, length) => drop(bytes.drain(range(at, *length, bytes.len()))),
            Self::Twice(at, length) => {
                let range = range(at, *length, bytes.len());
                let again = bytes[range.clone()].to_vec();
                bytes.splice(range.start..range.start, again);
            }
            Self::Frame(at, is_gone) => {
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
                let at = at.index(lines.len());
                if *is_gone {
                    lines.remove(at);
                } else {
                    lines.insert(at, lines[at]);
                }
                *bytes = lines.concat();
            }
        }
    }
}

/// Checks that hold for every response of a damaged stream.
fn is_sound(response: &Response) -> Result<(), TestCaseError> {
    for message in response.messages().into_iter().chain([response.message.as_str()]) {
        prop_assert!(serde_json::from_str::<Value>(message).is_ok(), "{}", message);
    }
    for call in &response.calls {
        prop_assert_eq!(call.executable, call.why_not.is_none());
        if call.executable {
            prop_assert!(!call.name.is_empty());
            prop_assert!(matches!(response.ending, Ending::Complete | Ending::CutCall), "{:?}", response.ending);
        }
    }
    prop_assert_eq!(response.error.is_some(), response.ending == Ending::Failed);
    Ok(())
}

fn survives(stream: &Stream, bytes: &[u8]) -> Result<(), TestCaseError> {
    let options = [stream.options.clone(), StreamOptions::default()];
    for options in &options {
        let whole = assembled(options, [bytes]);
        prop_assert_eq!(&whole, &assembled(options, bytes.chunks(1)));
        if let Ok(response) = whole {
            is_sound(&response)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES.max(ProptestConfig::default().cases), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_stream_breaks_nothing(at in any::<Index>(), damages in prop::collection::vec(damage(), 1..5)) {
        let streams = fixtures().map_err(TestCaseError::fail)?;
        let stream = at.get(&streams);
        let mut bytes = stream.bytes.clone();
        for damage in &damages {
            damage.apply(&mut bytes);
        }
        survives(stream, &bytes)?;
    }

    #[test]
    fn any_bytes_at_all_break_nothing(
        dialect in prop::sample::select(seamline::providers::dialect_names()),
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let options = StreamOptions { dialect: Some(dialect.to_owned()), ..StreamOptions::default() };
        survives(&Stream::of(dialect, Vec::new(), options), &bytes)?;
    }
}
