//! `seamline session verify` and `export`: the stored bytes that they check.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_executor::block_on;
use seamline::session::{OpenOptions, Session};

use crate::bench::Bench;
use crate::sessions::HELLO;

impl Bench {
    /// Alters one bit of the store at the given word.
    fn alter(&self, word: &str) {
        let path = self.path("state/seamline/sessions.db");
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(word.len()).position(|window| window == word.as_bytes()).unwrap();
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn a_session_that_is_being_written_does_not_count_as_damaged() {
    let bench = Bench::greeted("s-1");
    let open = Session::open(bench.store(), "s-1".parse().unwrap(), OpenOptions::default());
    let mut session = block_on(open).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                block_on(session.append(HELLO)).unwrap();
            }
        });
        let runs: Vec<_> = (0..40).map(|_| bench.session(&["verify", "s-1"])).collect();
        let exported = bench.session(&["export", "s-1"]);
        is_over.store(true, Ordering::Relaxed);
        for ran in runs {
            ran.expect(0);
        }
        bench.run_on(exported.expect(0).out, &["session", "import", "-", "--store", "sqlite:other.db"]).expect(0);
    });
}

#[test]
fn an_altered_inbox_is_detected() {
    let bench = Bench::greeted("s-1");
    let letter = r#"{"role":"user","content":"waiting-letter"}"#;
    bench.run_on(letter, &["session", "append", "s-1", "--inbox", "mail-1"]).expect(0);
    bench.session(&["verify"]).expect(0);
    let exported = bench.session(&["export", "s-1"]).expect(0);
    assert!(exported.err.contains("1 message of the inbox not written"), "{}", exported.err);
    bench.alter("waiting-letter");
    let ran = bench.session(&["verify", "s-1"]).expect(1);
    assert!(ran.out.contains("✗ s-1: damaged") && ran.out.contains("inbox"), "{}", ran.out);
}

#[test]
fn an_empty_file_is_a_damaged_store_and_not_a_new_one() {
    let bench = Bench::greeted("s-1");
    for name in bench.names("state/seamline") {
        std::fs::write(bench.path("state/seamline").join(name), b"").unwrap();
    }
    let ran = bench.session(&["verify"]).expect(1);
    assert!(ran.out.contains("the file is empty"), "{}", ran.out);
    let ran = bench.session(&["show", "s-1"]).expect(2);
    assert!(ran.err.contains("the file is empty"), "{}", ran.err);
    assert_eq!(std::fs::metadata(bench.path("state/seamline/sessions.db")).unwrap().len(), 0);
}

#[test]
fn a_command_that_reads_writes_nothing() {
    let bench = Bench::greeted("s-1");
    let open = Session::open(bench.store(), "s-1".parse().unwrap(), OpenOptions::default());
    let mut session = block_on(open).unwrap();
    block_on(session.append(HELLO)).unwrap();
    // The state after a crash: a file, and a log that is not copied into it yet.
    for end in ["", "-wal"] {
        let bytes = std::fs::read(bench.path(format!("state/seamline/sessions.db{end}"))).unwrap();
        bench.write(format!("crashed.db{end}"), bytes);
    }
    let bytes = || ["", "-wal"].map(|end| std::fs::read(bench.path(format!("crashed.db{end}"))).unwrap());
    let before = bytes();
    for args in [&["show", "s-1"][..], &["check", "s-1"], &["verify"], &["list"], &["export", "s-1"], &["tail", "s-1"]]
    {
        bench.session(&[args, &["--store", "sqlite:crashed.db"]].concat()).expect(0);
        assert!(bytes() == before, "{args:?} wrote");
    }
}
