//! Every case in `fixtures/files/sessions/<program>/<case>/`: `input.*` is a session file, `findings.txt` lists its
//! findings, and `repaired.*` is the file after the repair, if the repair changes it.
//!
//! `SEAMLINE_BLESS=1` writes the expected files anew; read the diff.

use std::path::{Path, PathBuf};

use seamline::{Finding, Options, Severity, files};

#[test]
fn every_case_is_checked_and_repaired_as_expected() {
    let mut cases = 0;
    let mut wrong = Vec::new();
    for program in folders(&root()) {
        for case in folders(&program) {
            cases += 1;
            wrong.extend(judge(&case).into_iter().map(|why| format!("{}: {why}", case.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases > 10, "only {cases} cases were found");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/files/sessions")
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

fn judge(case: &Path) -> Vec<String> {
    let mut inputs = std::fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path());
    let extension = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix("input.").map(str::to_owned);
    let (input, extension) = inputs.find_map(|path| extension(&path).map(|extension| (path, extension))).unwrap();
    let bytes = std::fs::read(&input).unwrap();
    let name = input.display().to_string();
    let options = Options::default();
    let checked = files::check(&name, &mut &bytes[..], &options).unwrap();
    let Some(checked) = checked else { return vec!["the program is not recognised".to_owned()] };
    let repaired = files::repair(&name, &bytes, &options).unwrap().unwrap();
    let mut wrong = Vec::new();
    compare(&case.join("findings.txt"), listed(&checked.findings).as_bytes(), &mut wrong);
    let expected = case.join(format!("repaired.{extension}"));
    if repaired.is_changed() {
        compare(&expected, &repaired.bytes, &mut wrong);
        let again = files::repair(&name, &repaired.bytes, &options).unwrap().unwrap();
        if again.is_changed() {
            wrong.push("a second repair changes the file".to_owned());
        }
        let left: Vec<Finding> =
            repaired.remaining.iter().filter(|left| left.severity > Severity::Info).cloned().collect();
        if !left.is_empty() {
            wrong.push(format!("findings remain: {}", listed(&left)));
        }
    } else if expected.exists() {
        wrong.push("the repair changes nothing".to_owned());
    }
    wrong
}

fn listed(findings: &[Finding]) -> String {
    let line = |finding: &Finding| match finding.line {
        Some(line) => format!("{} line {line}\n", finding.code),
        None => format!("{}\n", finding.code),
    };
    findings.iter().map(line).collect()
}

fn compare(expected: &Path, found: &[u8], wrong: &mut Vec<String>) {
    if std::env::var_os("SEAMLINE_BLESS").is_some() {
        std::fs::write(expected, found).unwrap();
        return;
    }
    let written = std::fs::read(expected).unwrap_or_default();
    if written != found {
        let name = expected.file_name().unwrap().to_string_lossy().into_owned();
        wrong.push(format!("{name} differs; it would be:\n{}", String::from_utf8_lossy(found)));
    }
}
