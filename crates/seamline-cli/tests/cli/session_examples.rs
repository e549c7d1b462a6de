//! The broken sessions in `examples/sessions/`.

use std::path::{Path, PathBuf};

use crate::bench::Bench;
use crate::session_files::age;

/// The examples, and the codes that a check reports for them.
const EXAMPLES: [(&str, &[&str]); 7] = [
    ("codex.jsonl", &["PAIR001", "FILE004"]),
    ("gemini-cli.json", &["FILE014"]),
    ("opencode-storage", &["PAIR001"]),
    ("pi.jsonl", &["FILE015"]),
    ("qwen-code.jsonl", &["FILE007"]),
    ("goose.jsonl", &["PAIR001"]),
    ("cline.json", &["FILE014"]),
];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sessions")
}

/// Copies a file, or a folder with its files, as if its program had ended.
fn copy(bench: &Bench, from: &Path, name: &str) {
    if from.is_file() {
        age(&bench.write(name, std::fs::read(from).unwrap()));
        return;
    }
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(bench, &entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()));
    }
}

#[test]
fn the_damage_of_each_example_is_found_and_mended() {
    let described = std::fs::read_to_string(examples().join("README.md")).unwrap();
    for (name, codes) in EXAMPLES {
        assert!(described.contains(&format!("| `{name}` |")), "{name}");
        let bench = Bench::new();
        copy(&bench, &examples().join(name), name);
        let found = bench.run(&["check", name]).expect(1);
        for code in codes {
            assert!(found.out.contains(code), "{name}: {code}\n{}", found.out);
        }
        bench.run(&["fix", name]).expect(0);
        bench.run(&["check", name]).expect(0);
    }
    let count = std::fs::read_dir(examples()).unwrap().count();
    assert_eq!(count, EXAMPLES.len() + 1, "each example has a row, and the table is in README.md");
}
