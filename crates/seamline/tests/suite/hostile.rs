//! Untrusted bytes at every entry point, on stable; `cargo xtask fuzz` continues from here.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::entries;

/// Pieces of streams, bodies and errors.
const PIECES: &[&str] = &[
    "data: ",
    "event: ",
    ": comment\n",
    "\n",
    "\r\n",
    "\n\n",
    "[DONE]",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud83d",
    "null",
    "true",
    "0",
    "-1",
    "4294967296",
    "99999999999999999999999999",
    "1e308",
    "\"type\":\"message_start\",\"message\":{\"content\":[]}",
    "\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{}}",
    "\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}",
    "\"type\":\"content_block_stop\",\"index\":0",
    "\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}",
    "\"type\":\"message_stop\"",
    "\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"b\",\"arguments\":\"{}\"}}]}}]",
    "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]",
    "\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"b\",\"arguments\":\"\"}",
    "\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{}\"",
    "\"type\":\"response.completed\",\"response\":{\"output\":[]}",
    "\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"b\",\"args\":{}}}]},\"finishReason\":\"STOP\"}]",
    "\"contentBlockStart\":{\"start\":{\"toolUse\":{\"toolUseId\":\"a\",\"name\":\"b\"}},\"contentBlockIndex\":0}",
    "\"messageStop\":{\"stopReason\":\"tool_use\"}",
    "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]",
    "\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\"",
    "\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}",
    "é",
    "\u{feff}",
];

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = proptest::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec());
    // A complete frame of an event stream: pieces alone rarely make one.
    let framed = proptest::sample::select(PIECES).prop_map(|piece| format!("data: {{{piece}}}\n\n").into_bytes());
    prop_oneof![2 => known, 3 => framed, 1 => proptest::collection::vec(any::<u8>(), 0..8)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_entry_point_survives(pieces in proptest::collection::vec(piece(), 0..24)) {
        let bytes = pieces.concat();
        for (name, _) in entries::ALL {
            entries::run(name, &bytes);
        }
    }
}

/// Every file under a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut open = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

#[test]
fn damaged_and_truncated_stream_fixtures_pass_every_entry_point() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/streams");
    for path in files(&folder).iter().filter(|path| path.ends_with("input.bin")) {
        let bytes = std::fs::read(path).unwrap();
        for (index, dialect) in seamline::providers::dialect_names().into_iter().enumerate() {
            let entry =
                |bytes: &[u8]| [Some(dialect), None].into_iter().for_each(|dialect| entries::stream(dialect, bytes));
            entry(&bytes);
            // A different byte for each dialect, the same on every run.
            let mut changed = bytes.clone();
            let at = (changed.len() / 7 + 1) * (index + 1);
            if let Some(byte) = changed.get_mut(at) {
                *byte = byte.wrapping_add(1);
            }
            entry(&changed);
            entry(&bytes[..bytes.len() - bytes.len() / 3]);
        }
    }
}

#[test]
fn every_entry_point_has_a_fuzz_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut targets: Vec<_> =
        files(&folder).iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    targets.sort();
    // The entry of the whole path of a request needs the proxy, so its test is in that crate.
    let of_proxy = "request_path".to_owned();
    let mut doors: Vec<_> =
        entries::ALL.iter().map(|(name, _)| (*name).to_owned()).chain(std::iter::once(of_proxy)).collect();
    doors.sort();
    assert_eq!(targets, doors);
}
