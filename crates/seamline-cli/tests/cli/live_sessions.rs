//! Session files that a program still writes, and commands that are killed.
#![cfg(target_os = "linux")]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{Bench, Ran};
use crate::session_files::{STUCK, age, user};

/// A shell script that runs until it is dropped.
struct Running(Child);

impl Running {
    fn script(bench: &Bench, script: &str) -> Self {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .current_dir(&bench.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(shell.spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a file exists.
fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Opens the session and keeps it open.
const HOLDER: &str = "exec 3>>s.jsonl; touch ready; exec sleep 600";

#[test]
fn a_file_that_a_process_has_open_is_refused_by_its_name() {
    let bench = Bench::new();
    let path = bench.write("s.jsonl", STUCK);
    let running = Running::script(&bench, HOLDER);
    wait_for(&bench.path("ready"));
    age(&path);
    let ran = bench.run(&["fix", "s.jsonl"]).expect(2);
    let who = format!("(process {}) has it open; nothing was changed", running.0.id());
    assert!(ran.err.contains(&who), "{}", ran.err);
    assert!(ran.err.contains("hint: end that program first"), "{}", ran.err);
    assert!(bench.read("s.jsonl") == STUCK && bench.names(".") == ["ready", "s.jsonl"]);
    let ran = bench.run(&["fix", "s.jsonl", "--force"]).expect(0);
    assert!(ran.out.starts_with("✓ s.jsonl: repaired"), "{}", ran.out);
    // That process has the old bytes open now, not the new ones.
    bench.run(&["undo", "s.jsonl"]).expect(0);
    assert!(bench.read("s.jsonl") == STUCK);
}

#[test]
fn an_undo_is_as_careful_as_a_repair() {
    let bench = Bench::new();
    age(&bench.write("s.jsonl", STUCK));
    bench.run(&["fix", "s.jsonl"]).expect(0);
    let running = Running::script(&bench, HOLDER);
    wait_for(&bench.path("ready"));
    let ran = bench.run(&["undo", "s.jsonl"]).expect(2);
    assert!(ran.err.contains("has it open; nothing was changed"), "{}", ran.err);
    drop(running);
    bench.run(&["undo", "s.jsonl"]).expect(0);
    assert!(bench.read("s.jsonl") == STUCK);
}

#[test]
fn a_live_writer_loses_nothing() {
    let bench = Bench::new();
    bench.write("s.jsonl", STUCK);
    bench.write("record", user("u9", Some("00000009-0000-4000-8000-000000000000"), "live"));
    for script in [
        "exec 3>>s.jsonl; while :; do cat record >&3; echo >> count; done",
        "while :; do cat record >> s.jsonl; echo >> count; done",
    ] {
        bench.write("s.jsonl", STUCK);
        let running = Running::script(&bench, script);
        for _ in 0..20 {
            let ran = bench.run(&["fix", "s.jsonl"]).expect(2);
            assert!(ran.err.contains("nothing was changed"), "{}", ran.err);
        }
        drop(running);
        let written = bench.read("count").lines().count();
        let found = bench.read("s.jsonl").matches("\"live\"").count();
        // The writer may be killed before it counts its last records.
        assert!(found >= written, "{found} of {written}");
        std::fs::remove_file(bench.path("count")).unwrap();
    }
}

#[test]
fn a_file_that_changed_a_moment_ago_is_refused_without_force() {
    let bench = Bench::new();
    let path = bench.write("s.jsonl", STUCK);
    let ran = bench.run(&["fix", "s.jsonl"]).expect(2);
    let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("s.jsonl: it changed") && said.contains("`--force` writes the file anyway"), "{}", ran.err);
    assert_eq!(bench.read("s.jsonl"), STUCK);
    bench.run(&["fix", "s.jsonl", "--diff"]).expect(0);
    age(&path);
    bench.run(&["fix", "s.jsonl"]).expect(0);
    assert_ne!(bench.read("s.jsonl"), STUCK);
}

#[test]
fn a_repair_and_its_undo_keep_the_times_and_the_mode() {
    let bench = Bench::new();
    let path = bench.write("s.jsonl", STUCK);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    age(&path);
    let look = || {
        let found = path.metadata().unwrap();
        (found.mode() & 0o777, found.modified().unwrap(), found.accessed().unwrap(), found.uid(), found.gid())
    };
    let before = look();
    bench.run(&["fix", "s.jsonl"]).expect(0);
    assert_eq!(look(), before);
    assert_ne!(bench.read("s.jsonl"), STUCK);
    age(&path);
    bench.run(&["undo", "s.jsonl"]).expect(0);
    assert_eq!(look(), before);
    assert_eq!(bench.read("s.jsonl"), STUCK);
    bench.run(&["fix", "s.jsonl"]).expect(0);
    std::fs::remove_file(&path).unwrap();
    bench.run(&["undo", "--force", "s.jsonl"]).expect(0);
    assert_eq!((look().0, look().1), (before.0, before.1));
}

#[test]
fn a_killed_repair_leaves_the_old_or_the_new_bytes() {
    let bench = Bench::new();
    let filler: String = (0..4000).map(|index| user(&format!("f{index}"), None, &"word ".repeat(50))).collect();
    let old = filler + STUCK;
    let path = bench.write("s.jsonl", &old);
    age(&path);
    let new = Ran::of(&mut bench.command(&["fix", "s.jsonl", "--stdout"])).expect(0).out;
    assert_ne!(new, old);
    let start = Instant::now();
    bench.run(&["fix", "s.jsonl"]).expect(0);
    let whole = start.elapsed();
    let (mut olds, mut news) = (0, 0);
    for round in 0..40 {
        bench.write("s.jsonl", &old);
        age(&path);
        let mut child = bench.command(&["fix", "s.jsonl"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Most of the rounds end near the end of the work, where the writes are.
        std::thread::sleep(whole.mul_f64(0.5 + 0.02 * f64::from(round)));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = bench.read("s.jsonl");
        assert!(found == old || found == new, "round {round}: {} bytes", found.len());
        olds += u32::from(found == old);
        news += u32::from(found == new);
        if found == new {
            bench.run(&["undo", "s.jsonl"]).expect(0);
            assert_eq!(bench.read("s.jsonl"), old);
        }
    }
    println!("{olds} rounds left the old bytes, {news} the new ones");
    // Drafts of killed commands are not session files.
    let names = bench.names(".");
    assert!(names.iter().all(|name| name == "s.jsonl" || name == "state" || name.ends_with(".seamline")), "{names:?}");
}

/// The system calls that change files. A system that has no such call ignores its name.
const WRITES: [&str; 15] = [
    "write",
    "pwrite64",
    "writev",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "fchmod",
    "fchown",
    "utimensat",
    "?link",
    "linkat",
    "?rename",
    "renameat",
    "?renameat2",
];

/// The most calls of one kind that a repair makes.
const CALLS_MAX: usize = 200;

/// A command under `strace`, which kills it when it makes a system call for the n-th time, before the call has an effect.
fn killed_at(bench: &Bench, call: &str, n: usize, args: &[&str]) -> Command {
    let mut command = Command::new("strace");
    let inject = format!("inject={call}:signal=KILL:when={n}");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject, "--"]);
    let plain = bench.command(args);
    command.arg(plain.get_program()).args(plain.get_args()).current_dir(&bench.folder);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn a_repair_that_is_killed_before_any_write_leaves_the_old_or_the_new_bytes() {
    let bench = Bench::new();
    let path = bench.write("s.jsonl", STUCK);
    age(&path);
    let may_trace = killed_at(&bench, "pwrite64", CALLS_MAX, &["--version"]).status();
    if !may_trace.is_ok_and(|status| status.success()) {
        println!("skipped: strace is not installed, or this user may not trace");
        return;
    }
    let new = Ran::of(&mut bench.command(&["fix", "s.jsonl", "--stdout"])).expect(0).out;
    let (mut olds, mut news) = (0, 0);
    for call in WRITES {
        for n in 1..CALLS_MAX {
            let ended = killed_at(&bench, call, n, &["fix", "s.jsonl"]).status().unwrap();
            let found = bench.read("s.jsonl");
            assert!(found == STUCK || found == new, "{call} {n}: {} bytes", found.len());
            let is_killed = !ended.success();
            olds += usize::from(is_killed && found == STUCK);
            news += usize::from(is_killed && found == new);
            // The next command finds nothing in its way, and the old bytes are never lost.
            bench.run(&["fix", "s.jsonl"]).expect(0);
            assert_eq!(bench.read("s.jsonl"), new, "{call} {n}");
            bench.run(&["undo", "s.jsonl"]).expect(0);
            assert_eq!(bench.read("s.jsonl"), STUCK, "{call} {n}");
            assert!(is_killed || ended.code() == Some(0), "{call} {n}: {ended}");
            if !is_killed {
                break;
            }
            assert!(n + 1 < CALLS_MAX, "{call}");
        }
    }
    println!("{olds} kills left the old bytes, {news} the new ones");
    assert!(olds >= 10 && news >= 1, "{olds} {news}");
}
