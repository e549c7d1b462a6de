//! Compressed sessions are checked and repaired like plain ones, and stay compressed.

use std::path::Path;

use seamline::{Options, files};

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/files/sessions").join(path)).unwrap()
}

#[test]
fn a_compressed_session_is_repaired_and_compressed_again() {
    let (name, options) = ("rollout.jsonl.zst", Options::default());
    let plain = fixture("codex/missing-result/input.jsonl");
    let packed = zstd::encode_all(&plain[..], 3).unwrap();
    assert_eq!(files::recognise("x", &packed).map(|program| program.name), Some("Codex"));

    let checked = files::check(name, &mut &packed[..], &options).unwrap().unwrap();
    let expected = files::check(name, &mut &plain[..], &options).unwrap().unwrap();
    let listed = |found: &[seamline::Finding]| found.iter().map(|found| (found.code, found.line)).collect::<Vec<_>>();
    assert_eq!(listed(&checked.findings), listed(&expected.findings));
    assert!(!checked.is_healthy());

    let repaired = files::repair(name, &packed, &options).unwrap().unwrap();
    let content = zstd::decode_all(&*repaired.bytes).unwrap();
    assert_eq!(content, fixture("codex/missing-result/repaired.jsonl"));
    assert!(repaired.remaining.is_empty());
    let again = files::repair(name, &repaired.bytes, &options).unwrap().unwrap();
    assert!(!again.is_changed());
}

#[test]
fn a_healthy_compressed_session_keeps_its_bytes() {
    // At another level than ours the bytes would differ if they were written again.
    let packed = zstd::encode_all(&fixture("codex/clean/input.jsonl")[..], 9).unwrap();
    let repaired = files::repair("x.jsonl.zst", &packed, &Options::default()).unwrap().unwrap();
    assert!(!repaired.is_changed());
    assert_eq!(*repaired.bytes, packed[..]);
}

#[test]
fn a_cut_compressed_session_is_an_error() {
    let packed = zstd::encode_all(&fixture("codex/clean/input.jsonl")[..], 3).unwrap();
    let cut = &packed[..packed.len() / 2];
    let options = Options::default();
    let error = files::check("rollout.jsonl.zst", &mut &cut[..], &options).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.contains("seamline salvage")), "{error}");
    assert!(files::repair("rollout.jsonl.zst", cut, &options).is_err());
}
