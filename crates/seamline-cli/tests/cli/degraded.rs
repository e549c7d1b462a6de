//! Sessions whose messages are not all there.

use crate::bench::{Bench, Ran};
use crate::sessions::HELLO;

/// A session with a commit that was altered.
fn altered() -> Bench {
    let bench = Bench::greeted("s-1");
    bench.append("s-1", r#"{"role":"user","content":"a secret word"}"#).expect(0);
    bench.session(&["new", "whole", "--title", "untouched"]).expect(0);
    bench.append("whole", HELLO).expect(0);
    let path = bench.path("state/seamline/sessions.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|window| window == b"secret").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    bench
}

#[test]
fn commands_that_print_a_degraded_session_exit_with_1() {
    let bench = altered();
    for (args, shown) in [
        (&["request", "s-1"][..], "hello"),
        (&["check", "s-1"], "s-1"),
        (&["incidents", "s-1"], "incidents"),
        (&["repair", "s-1", "--dry-run"], "nothing wrong"),
        (&["show", "s-1", "--messages"], "hello"),
        (&["tail", "s-1"], "hello"),
        (&["recover", "s-1", "--dry-run"], "no"),
        (&["checkpoints", "s-1"], "no checkpoints"),
        (&["fork", "s-1", "s-2"], "s-2: 1 message of s-1"),
        (&["export", "s-1", "--messages"], "hello"),
        (&["export", "s-1", "--messages", "--output", "out.jsonl"], "written"),
    ] {
        let ran = bench.session(args).expect(1);
        assert!(format!("{}{}", ran.out, ran.err).contains(shown), "{args:?}: {ran:?}");
        assert!(
            ran.err.contains("session `s-1` is degraded: the commit at record 3 was altered"),
            "{args:?}: {}",
            ran.err
        );
    }
    assert_eq!(bench.read("out.jsonl"), format!("{HELLO}\n"));
    bench.session(&["request", "whole"]).expect(0);
    bench.session(&["incidents", "whole"]).expect(0);
}

#[test]
fn the_list_marks_a_degraded_session() {
    let bench = altered();
    let ran = bench.session(&["list"]).expect(0);
    let line = |name: &str| ran.out.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("s-1").contains("degraded") && !line("whole").contains("degraded"), "{}", ran.out);
    assert!(ran.err.contains("1 session degraded") && ran.err.contains("session verify"), "{}", ran.err);
    let listed = bench.session(&["list", "--format", "json"]).expect(0).json();
    let health: Vec<_> = listed["sessions"].as_array().unwrap().iter().map(|one| one["health"].clone()).collect();
    assert_eq!(health, ["degraded", "whole"]);
}

/// Kills a process that holds the session open, and flips a bit of its write-ahead log.
#[cfg(unix)]
#[test]
fn a_damaged_log_is_named_by_every_command() {
    use std::io::BufRead as _;
    let bench = Bench::greeted("s-1");
    // The follower keeps the log, which a last connection would empty.
    let mut tail = bench.command(&["session", "tail", "s-1", "--follow"]);
    let mut tail = tail.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut heard = std::io::BufReader::new(tail.stdout.take().unwrap());
    heard.read_line(&mut first).unwrap();
    for word in ["one", "two", "three"] {
        bench.append("s-1", &format!("{{\"role\":\"user\",\"content\":\"{word}\"}}")).expect(0);
    }
    tail.kill().unwrap();
    tail.wait().unwrap();
    let path = bench.path("state/seamline/sessions.db-wal");
    let mut log = std::fs::read(&path).unwrap();
    log[32 + 24 + 1_000] ^= 4;
    std::fs::write(&path, &log).unwrap();

    let ran = bench.session(&["list"]).expect(0);
    assert!(ran.out.contains("degraded") && ran.err.contains("commits that it had acknowledged are lost"), "{ran:?}");
    let ran = bench.session(&["verify"]).expect(1);
    assert!(
        ran.out.contains("✗ s-1: damaged") && ran.out.contains("write-ahead log of the store was damaged"),
        "{ran:?}"
    );
    let ran = bench.session(&["request", "s-1"]).expect(1);
    assert!(ran.err.contains("session `s-1` is degraded"), "{}", ran.err);
    bench.append("s-1", HELLO).expect(0);
    let ran = bench.session(&["incidents", "s-1"]).expect(1);
    assert!(ran.on_one_line().contains("write-ahead log of the store was damaged"), "{}", ran.out);
    let kept = bench.path("state/seamline/sessions.db-quarantine");
    let logs: Vec<_> = bench
        .names(&kept)
        .into_iter()
        .filter(|name| std::path::Path::new(name).extension().is_some_and(|ending| ending == "wal"))
        .collect();
    assert_eq!(logs.len(), 1, "{logs:?}");
    assert_eq!(std::fs::read(kept.join(&logs[0])).unwrap(), log);
    // The export of the chain still works, and says that commits may be missing behind it.
    let ran = bench.session(&["export", "s-1"]).expect(1);
    assert!(ran.out.contains("seamline_export") && ran.err.contains("write-ahead log"), "{ran:?}");
    bench.session(&["new", "later"]).expect(0);
    bench.session(&["verify", "later"]).expect(0);
    std::fs::remove_dir_all(kept).unwrap();
    bench.session(&["verify"]).expect(0);
}

#[test]
fn a_session_with_a_key_opens_with_that_key_only() {
    let bench = Bench::greeted("plain");
    let with = |secret: &str, args: &[&str]| {
        Ran::of(bench.command(&[&["session"], args].concat()).env("SEAMLINE_SEAL_KEY", secret))
    };
    let (secret, other) = ("4f1c9f2ab1d94ce0b9c8", "another secret of ours");
    with(secret, &["new", "locked"]).expect(0);
    let path = bench.write("m.json", HELLO);
    with(secret, &["append", "locked", path.to_str().unwrap()]).expect(0);
    assert_eq!(with(secret, &["export", "locked", "--messages"]).expect(0).out, format!("{HELLO}\n"));
    with(secret, &["verify"]).expect(0);
    // A session without a key stays readable, also for the one who has a key.
    assert_eq!(with(secret, &["export", "plain", "--messages"]).expect(0).out, format!("{HELLO}\n"));
    for (ran, what) in [
        (bench.session(&["request", "locked"]), "sealed with a key, and no key was given"),
        (with(other, &["request", "locked"]), "sealed with another key"),
        (with(other, &["append", "locked", path.to_str().unwrap()]), "sealed with another key"),
        (with("short", &["list"]), "SEAMLINE_SEAL_KEY has fewer than 16 characters"),
    ] {
        let ran = ran.expect(2);
        assert!(ran.err.contains(what), "{}", ran.err);
    }
    let ran = bench.session(&["verify"]).expect(1);
    assert!(ran.out.contains("no key was given") && ran.out.contains("✓ plain"), "{}", ran.out);
    let listed = bench.session(&["list", "--format", "json"]).expect(0).json();
    assert_eq!(listed["sessions"][0]["health"], "locked");
    // An export carries the seals to another store.
    with(secret, &["export", "locked", "--output", "locked.jsonl"]).expect(0);
    with(secret, &["import", "locked.jsonl", "--store", "sqlite:other.db"]).expect(0);
    with(secret, &["verify", "--store", "sqlite:other.db"]).expect(0);
    with(other, &["import", "locked.jsonl", "--store", "sqlite:third.db"]).expect(2);
}
