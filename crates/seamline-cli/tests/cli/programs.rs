//! Files of other programs are refused by name, unless Seamline reads them.

use std::path::{Path, PathBuf};

use crate::bench::Bench;

/// The fixtures: one or more files of every program.
fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/files");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

/// Whether Seamline reads the files of the program that wrote a file.
fn is_read(name: &str, bytes: &[u8]) -> bool {
    seamline::files::recognise(name, bytes).is_some_and(seamline::files::Program::is_read)
}

#[test]
fn every_command_refuses_the_file_of_another_program_and_leaves_it_alone() {
    let bench = Bench::new();
    bench.run(&["session", "new", "s-1", "--store", "sqlite:s.db"]).expect(0);
    for path in fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        bench.write(name, &bytes);
        let mut all = vec![
            vec!["session", "append", "s-1", name, "--store", "sqlite:s.db"],
            vec!["session", "import", name, "--store", "sqlite:s.db"],
        ];
        if !is_read(name, &bytes) {
            all.extend([vec!["check", name], vec!["fix", name], vec!["fix", name, "--unsafe"]]);
            all.push(vec!["convert", name, "--to", "anthropic"]);
        }
        for args in &all {
            let ran = bench.run(args).expect(2);
            let is_named = ran.on_one_line().contains("not a request body") || ran.err.contains("not a request body");
            assert!(is_named && ran.err.contains("hint: "), "{args:?} {ran:?}");
            assert_eq!(ran.out, "", "{args:?}");
        }
        assert_eq!(std::fs::read(bench.path(name)).unwrap(), bytes, "{name}");
    }
    let ran = bench.run(&["session", "show", "s-1", "--store", "sqlite:s.db"]).expect(0);
    assert!(!ran.out.contains("3 messages"), "{}", ran.out);
}

#[test]
fn the_program_and_a_command_that_helps_are_named() {
    let bench = Bench::new();
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/files").join(name);
    bench.write("log.jsonl", std::fs::read(fixture("claude_code.jsonl")).unwrap());
    let ran = bench.run(&["session", "import", "log.jsonl", "--store", "sqlite:s.db"]).expect(2);
    assert!(ran.err.contains("log.jsonl: this is a session log of Claude Code, not a request body"), "{}", ran.err);
    let command = "seamline convert log.jsonl --to anthropic";
    assert!(ran.err.contains(command), "{}", ran.err);
    let body = bench.run(&["convert", "log.jsonl", "--to", "anthropic"]).expect(0);
    bench.write("body.json", body.out);
    bench.run(&["session", "new", "s-1", "--store", "sqlite:s.db"]).expect(0);
    bench.run(&["session", "append", "s-1", "body.json", "--body", "--store", "sqlite:s.db"]).expect(0);
    bench.write("session.json", std::fs::read(fixture("gemini_cli.json")).unwrap());
    let ran = bench.run(&["session", "import", "session.json", "--store", "sqlite:s.db"]).expect(2);
    assert!(ran.err.contains("this is a session of Gemini CLI"), "{}", ran.err);
    assert!(ran.err.contains("seamline check session.json"), "{}", ran.err);
}

#[test]
fn the_file_of_another_program_is_not_assembled() {
    let bench = Bench::new();
    for path in fixtures() {
        bench.write("file", std::fs::read(&path).unwrap());
        bench.run(&["assemble", "file"]).expect(2);
    }
}
