//! `seamline session import --as`: sessions that are imported under another name.

use crate::bench::Bench;
use crate::sessions::HELLO;

#[test]
fn an_erased_session_is_imported_under_another_name_as_a_copy() {
    let bench = Bench::greeted("s-1");
    bench.append("s-1", HELLO).expect(0);
    let messages = bench.messages("s-1");
    bench.session(&["export", "s-1", "--output", "s-1.jsonl"]).expect(0);
    bench.session(&["erase", "s-1", "--yes"]).expect(0);
    for args in [&["import", "s-1.jsonl"][..], &["import", "s-1.jsonl", "--as", "s-1"]] {
        let ran = bench.session(args).expect(2);
        assert!(ran.err.contains("session `s-1` was erased"), "{}", ran.err);
        assert!(ran.err.contains("`--as NAME` imports a copy under another name"), "{}", ran.err);
    }
    let ran = bench.session(&["import", "s-1.jsonl", "--as", "s-2"]).expect(0);
    assert!(ran.out.starts_with("✓ s-2: imported a copy of s-1 with 2 messages\n"), "{}", ran.out);
    assert!(ran.out.contains("not byte for byte"), "{}", ran.out);
    assert_eq!(bench.messages("s-2"), messages);
    let shown = bench.session(&["show", "s-2"]).expect(0).out;
    assert!(shown.contains("from       s-1 at record 3\n"), "{shown}");
    bench.session(&["verify", "s-2"]).expect(0);
    bench.append("s-2", HELLO).expect(0);
    let ran = bench.session(&["import", "s-1.jsonl", "--as", "s-2"]).expect(2);
    assert!(ran.err.contains("session `s-2` exists already") && ran.err.contains("`--as NAME`"), "{}", ran.err);
}

#[test]
fn under_its_own_name_a_session_is_imported_byte_for_byte() {
    let bench = Bench::greeted("s-1");
    let exported = bench.session(&["export", "s-1"]).expect(0).out;
    let other = ["--store", "sqlite:other.db"];
    let args = [&["session", "import", "-", "--as", "s-1"][..], &other].concat();
    let ran = bench.run_on(&exported, &args).expect(0);
    assert_eq!(ran.out, "✓ s-1: imported 2 commits with 2 records\n");
    assert_eq!(bench.session(&[&["export", "s-1"][..], &other].concat()).expect(0).out, exported);
    // Several sessions cannot have one name.
    bench.session(&["new", "s-2"]).expect(0);
    let two = exported + &bench.session(&["export", "s-2"]).expect(0).out;
    let ran = bench.run_on(&two, &["session", "import", "-", "--as", "s-3"]).expect(2);
    assert!(ran.err.contains("has 2 sessions") && ran.err.contains("hint: without `--as`"), "{}", ran.err);
}
