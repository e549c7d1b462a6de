//! `seamline undo`

use std::process::Stdio;

use crate::bench::{BROKEN, Bench, CAUTIOUS, CLEAN, TWICE};

#[test]
fn undo_restores_the_exact_bytes() {
    let bench = Bench::new();
    let odd = format!("\u{feff} {}\r\n", BROKEN.replace(':', " :\t"));
    bench.write("body.json", &odd);
    bench.run(&["fix", "body.json"]).expect(0);
    assert_ne!(bench.read("body.json"), odd);
    let ran = bench.run(&["undo", "body.json"]).expect(0);
    assert!(ran.out.starts_with("✓ body.json: undid the repair of 20"), "{}", ran.out);
    assert_eq!(bench.read("body.json"), odd);
}

#[test]
fn repairs_are_undone_one_after_the_other() {
    let bench = Bench::new();
    bench.write("cautious.toml", CAUTIOUS);
    bench.write("body.json", TWICE);
    bench.run(&["fix", "body.json", "--policy", "cautious.toml"]).expect(1);
    let once = bench.read("body.json");
    bench.run(&["fix", "body.json"]).expect(0);
    let twice = bench.read("body.json");
    assert!(once != TWICE && once != twice);
    let ran = bench.run(&["undo", "body.json"]).expect(0);
    assert!(ran.out.ends_with("; 1 repair can still be undone\n"), "{}", ran.out);
    assert_eq!(bench.read("body.json"), once);
    bench.run(&["undo", "body.json"]).expect(0);
    assert_eq!(bench.read("body.json"), TWICE);
    let ran = bench.run(&["undo", "body.json"]).expect(2);
    assert!(ran.err.contains("no repair of this file is known"), "{}", ran.err);
}

#[test]
fn a_folder_means_every_repaired_file_below_it() {
    let bench = Bench::new();
    for name in ["logs/a.json", "logs/deep/b.json", "logs/clean.json", "beside.json"] {
        bench.write(name, if name.contains("clean") { CLEAN } else { BROKEN });
    }
    bench.run(&["fix", "logs", "beside.json"]).expect(0);
    let ran = bench.run(&["undo", "--list", "logs"]).expect(0);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
    let ran = bench.run(&["undo", "logs"]).expect(0);
    assert_eq!(ran.out.matches("undid the repair").count(), 2, "{}", ran.out);
    assert_eq!([bench.read("logs/a.json"), bench.read("logs/deep/b.json")], [BROKEN; 2]);
    assert_ne!(bench.read("beside.json"), BROKEN);
    let ran = bench.run(&["undo", "logs"]).expect(2);
    assert!(ran.err.contains("no repair of a file in this folder is known"), "{}", ran.err);
}

#[test]
fn a_file_that_changed_since_its_repair_is_not_touched() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.run(&["fix", "body.json"]).expect(0);
    bench.write("body.json", CLEAN);
    let ran = bench.run(&["undo", "body.json"]).expect(2);
    assert!(ran.err.contains("it was changed after the repair") && ran.err.contains("hint: `--force`"), "{}", ran.err);
    assert_eq!(bench.read("body.json"), CLEAN);
    let ran = bench.run(&["undo", "--force", "body.json"]).expect(0);
    assert_eq!(bench.read("body.json"), BROKEN);
    let kept = ran.out.split("are kept in ").nth(1).unwrap().trim_end().to_owned();
    assert_eq!(bench.read(kept), CLEAN);
}

#[test]
fn a_deleted_file_is_restored_only_with_force() {
    let bench = Bench::new();
    let path = bench.write("body.json", BROKEN);
    bench.run(&["fix", "body.json"]).expect(0);
    std::fs::remove_file(path).unwrap();
    bench.run(&["undo", "body.json"]).expect(2);
    bench.run(&["undo", "--force", "body.json"]).expect(0);
    assert_eq!(bench.read("body.json"), BROKEN);
}

#[test]
fn a_recorded_repair_that_never_happened_is_skipped() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.run(&["fix", "body.json"]).expect(0);
    let once = bench.read("body.json");
    let folder = bench.names("state/seamline/repairs").remove(0);
    let first = bench.read(format!("state/seamline/repairs/{folder}/1"));
    let record: serde_json::Value = serde_json::from_str(&first).unwrap();
    // The state after a crash between the record and the rename.
    let mut crashed = record.clone();
    crashed["before"] = record["after"].clone();
    crashed["after"] = "0".repeat(64).into();
    bench.write(format!("state/seamline/repairs/{folder}/2"), crashed.to_string());
    assert_eq!(bench.read("body.json"), once);
    bench.run(&["undo", "body.json"]).expect(0);
    assert_eq!(bench.read("body.json"), BROKEN);
}

#[test]
fn damaged_bytes_are_not_restored() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.run(&["fix", "body.json"]).expect(0);
    let repaired = bench.read("body.json");
    let object = bench.names("state/seamline/objects").remove(0);
    bench.write(format!("state/seamline/objects/{object}"), "something else");
    let ran = bench.run(&["undo", "body.json"]).expect(2);
    assert!(ran.err.contains("are damaged"), "{}", ran.err);
    assert_eq!(bench.read("body.json"), repaired);
}

#[test]
fn only_the_owner_can_read_the_old_bytes() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.run(&["fix", "body.json"]).expect(0);
    let mode = |name: &str| std::fs::metadata(bench.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("state/seamline/objects"), 0o700);
    let object = bench.names("state/seamline/objects").remove(0);
    assert_eq!(mode(&format!("state/seamline/objects/{object}")), 0o600);
}

#[test]
fn two_repairs_at_once_lose_nothing() {
    let bench = Bench::new();
    for round in 0..8 {
        let name = format!("{round}.json");
        bench.write(&name, BROKEN);
        let start = || {
            let mut command = bench.command(&["fix", &name]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let runs = [start(), start(), start()];
        let codes: Vec<_> =
            runs.into_iter().map(|run| run.wait_with_output().unwrap().status.code().unwrap()).collect();
        // One repairs; the others find it done, or see that the file changed under them.
        assert!(codes.contains(&0) && !codes.contains(&1), "{codes:?}");
        bench.run(&["check", &name]).expect(0);
        bench.run(&["undo", &name]).expect(0);
        assert_eq!(bench.read(&name), BROKEN);
    }
}

#[test]
fn repairs_that_can_be_undone_are_listed() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["undo", "--list"]).expect(0).out, "no repair can be undone\n");
    bench.write("a.json", BROKEN);
    bench.write("b.json", BROKEN);
    bench.run(&["fix", "a.json", "b.json"]).expect(0);
    let all = bench.run(&["undo", "--list"]).expect(0).out;
    assert_eq!(all.lines().count(), 2, "{all}");
    let one = bench.run(&["undo", "--list", "a.json"]).expect(0).out;
    assert!(one.ends_with("/a.json\n") && one.lines().count() == 1, "{one}");
    bench.run(&["undo", "a.json"]).expect(0);
    assert_eq!(bench.run(&["undo", "a.json", "--list"]).expect(0).out, "no repair can be undone\n");
    bench.run(&["undo"]).expect(2);
}

#[test]
fn a_prune_removes_old_repairs_and_keeps_the_others() {
    let bench = Bench::new();
    let ran = bench.run(&["undo", "--prune"]).expect(0);
    assert_eq!(ran.out, "✓ removed 0 repairs and 0 B; 0 repairs (0 B) can still be undone\n");
    for name in ["old.json", "new.json"] {
        bench.write(name, BROKEN.replace("main.rs", name));
        bench.run(&["fix", name]).expect(0);
    }
    // The record of the first repair becomes an old one.
    let folder = bench.path("state/seamline/repairs");
    let records = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path().join("1"));
    for path in records.filter(|path| std::fs::read_to_string(path).unwrap().contains("old.json")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
        record["time"] = "2020-01-01T00:00:00Z".into();
        std::fs::write(&path, record.to_string()).unwrap();
    }
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    for entry in std::fs::read_dir(bench.path("state/seamline/objects")).unwrap() {
        std::fs::OpenOptions::new().append(true).open(entry.unwrap().path()).unwrap().set_modified(old).unwrap();
    }
    bench.run(&["undo", "--prune", "--older-than", "soon"]).expect(2);
    let ran = bench.run(&["undo", "--prune", "--older-than", "1d"]).expect(0);
    assert!(ran.out.starts_with("✓ removed 1 repair and ") && ran.out.contains("; 1 repair ("), "{}", ran.out);
    assert_eq!(bench.names("state/seamline/objects").len(), 1);
    let ran = bench.run(&["undo", "old.json"]).expect(2);
    assert!(ran.err.contains("no repair of this file is known"), "{}", ran.err);
    bench.run(&["undo", "new.json"]).expect(0);
    assert_eq!(bench.read("new.json"), BROKEN.replace("main.rs", "new.json"));
    bench.run(&["fix", "new.json"]).expect(0);
    bench.run(&["undo", "--prune", "--max-size", "1MB"]).expect(0);
    assert_eq!(bench.names("state/seamline/objects").len(), 1);
    bench.run(&["undo", "--prune", "--max-size", "100"]).expect(0);
    assert!(bench.names("state/seamline/objects").is_empty());
}
