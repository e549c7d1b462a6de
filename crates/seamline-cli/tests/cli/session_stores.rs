//! The store of `seamline session …`: its address, its absence, and the process that writes it.

use futures_executor::block_on;
use seamline::session::{OpenOptions, Session};
use seamline::store::{Acquire, Holder};

use crate::bench::{Bench, Ran};
use crate::sessions::HELLO;

/// The output of a command with a store that the environment names.
fn of_environment(bench: &Bench, store: &str, args: &[&str]) -> Ran {
    let mut command = bench.command(&[&["session"], args].concat());
    Ran::of(command.env("SEAMLINE_STORE", store))
}

#[test]
fn a_missing_store_is_an_error_and_not_an_empty_list() {
    let bench = Bench::new();
    let path = bench.path("nope.db").display().to_string();
    let read = [&["list"][..], &["list", "--format", "json"], &["verify"], &["show", "s-1"]];
    for args in read {
        let ran = of_environment(&bench, "sqlite:nope.db", args).expect(2);
        assert!(ran.err.contains(&format!("there is no store yet: no file {path}, which SEAMLINE_STORE names")));
        assert!(ran.err.contains("hint: check SEAMLINE_STORE; `seamline session new"), "{}", ran.err);
        assert!(ran.out.is_empty() && !bench.path("nope.db").exists(), "{}", ran.out);
        let ran = bench.session(&[args, &["--store", "sqlite:nope.db"]].concat()).expect(2);
        assert!(ran.err.contains(&format!("no file {path}, which `--store` names")), "{}", ran.err);
        assert!(ran.err.contains("`seamline session new NAME --store sqlite:nope.db`"), "{}", ran.err);
    }
    let ran = bench.session(&["list"]).expect(0);
    assert!(ran.out.starts_with("no sessions in `sqlite:") && ran.err.contains("seamline session new"), "{ran:?}");
    let ran = bench.session(&["show", "s-1"]).expect(2);
    assert!(ran.err.contains("there is no store yet: no file") && ran.err.contains("the default"), "{}", ran.err);
}

#[test]
fn a_wrong_store_url_is_refused_with_a_suggestion() {
    let bench = Bench::new();
    for args in [&["list"][..], &["new", "s-1"]] {
        let ran = bench.session(&[args, &["--store", "here.db"]].concat()).expect(2);
        assert!(ran.err.contains("`--store` is not a store URL"), "{}", ran.err);
        assert!(ran.err.contains("did you mean `sqlite:here.db`?"), "{}", ran.err);
        let ran = of_environment(&bench, "here.db", args).expect(2);
        assert!(ran.err.contains("SEAMLINE_STORE is not a store URL"), "{}", ran.err);
        // Words that may be a password are not shown.
        let ran = of_environment(&bench, "host=h password=secret", args).expect(2);
        assert!(ran.err.contains("hint: a store is `sqlite:PATH`") && !ran.err.contains("secret"), "{}", ran.err);
        let ran = bench.session(&[args, &["--store", "sqlite:"]].concat()).expect(2);
        assert!(ran.err.contains("`sqlite:` does not name a file"), "{}", ran.err);
        let ran = bench.session(&[args, &["--store", "sqlite:."]].concat()).expect(2);
        assert!(ran.err.contains("is a folder") && ran.err.contains("sqlite:./sessions.db"), "{}", ran.err);
    }
}

#[test]
fn a_file_that_is_not_a_store_is_refused_with_a_hint() {
    let bench = Bench::new();
    bench.write("notes.txt", "no database at all, only some text that is long enough to be one");
    let at = ["--store", "sqlite:notes.txt"];
    for args in [&["list"][..], &["show", "s-1"], &["new", "s-1"]] {
        let ran = bench.session(&[args, &at].concat()).expect(2);
        assert!(ran.err.contains("`sqlite:notes.txt`") && ran.err.contains("is not an SQLite database"), "{}", ran.err);
        assert!(ran.err.contains("hint: check that `--store` names the right file"), "{}", ran.err);
    }
    bench.write("folder/notes.txt", "");
    let ran = bench.session(&["new", "s-1", "--store", "sqlite:folder/notes.txt/x.db"]).expect(2);
    assert!(ran.err.contains("folder/notes.txt") && ran.err.contains("hint:"), "{}", ran.err);
}

#[test]
fn a_damaged_store_gets_a_hint_that_names_the_store() {
    let bench = Bench::new();
    let at = ["--store", "sqlite:here.db"];
    bench.session(&[&["new", "s-1"][..], &at].concat()).expect(0);
    let path = bench.path("here.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[4096..length].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let ran = bench.session(&[&["show", "s-1"][..], &at].concat()).expect(2);
    assert!(ran.err.contains("`seamline session verify s-1 --store sqlite:here.db`"), "{}", ran.err);
}

#[test]
fn a_running_writer_and_one_that_is_gone_are_distinguished() {
    let bench = Bench::greeted("s-1");
    let store = bench.store();
    let name = "s-1".parse().unwrap();
    let open = Session::open(store.clone(), "s-1".parse().unwrap(), OpenOptions::default());
    let session = block_on(open).unwrap();
    let own = block_on(store.list_sessions(None, 10)).unwrap().remove(0).holder.unwrap();
    let pid = std::process::id();
    let look = |words: &str, word: &str, line: &str| {
        let shown = bench.session(&["show", "s-1"]).expect(0).out;
        let writer = shown.lines().find(|line| line.starts_with("  writer ")).unwrap_or_default();
        assert!(writer.contains(words), "{words} in {shown}");
        let listed = bench.session(&["list"]).expect(0).out;
        assert!(listed.contains(line), "{line} in {listed}");
        for args in [&["show", "s-1"][..], &["list"]] {
            let told = bench.session(&[args, &["--format", "json"]].concat()).expect(0).json();
            let session = if args[0] == "list" { &told["sessions"][0] } else { &told };
            assert_eq!(session["writer"], word, "{session}");
        }
    };
    look(" runs and has written it since ", "alive", &format!("written by process {pid}"));
    let gone = Holder { pid: u32::MAX, ..own.clone() };
    block_on(store.acquire(&name, &gone, Acquire::TakeOver)).unwrap();
    look(" is gone without releasing the lease", "gone", "process 4294967295 on");
    let elsewhere = Holder { host: "elsewhere".to_owned(), ..own };
    block_on(store.acquire(&name, &elsewhere, Acquire::TakeOver)).unwrap();
    look("; this machine cannot tell whether it still runs", "unknown", &format!("process {pid} on elsewhere"));
    drop(session);
    bench.run_on(HELLO, &["session", "append", "s-1", "--take-over"]).expect(0);
    let shown = bench.session(&["show", "s-1"]).expect(0).out;
    assert!(!shown.contains("  writer "), "{shown}");
    assert!(shown.contains("  incidents  1 warning\n"), "{shown}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_an_export() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::greeted("s-1");
    let mode = |name: &str| bench.path(name).metadata().unwrap().permissions().mode() & 0o777;
    bench.session(&["export", "s-1", "--output", "s-1.jsonl"]).expect(0);
    bench.session(&["export", "s-1", "--messages", "--output", "messages.jsonl"]).expect(0);
    assert_eq!((mode("s-1.jsonl"), mode("messages.jsonl")), (0o600, 0o600));
    // A file keeps the mode that its owner gave it.
    std::fs::set_permissions(bench.path("s-1.jsonl"), std::fs::Permissions::from_mode(0o640)).unwrap();
    bench.session(&["export", "s-1", "--output", "s-1.jsonl"]).expect(0);
    assert_eq!(mode("s-1.jsonl"), 0o640);
}
