//! Which test proves which demand of the source documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// One demand per line: its id, its text, and the test that proves it, or `-` and the reason why there is none.
const TABLE: &str = include_str!("requirements.tsv");

/// How many demands each document has.
const DEMANDS: [(&str, usize); 3] = [("S0", 43), ("S1", 114), ("S2", 23)];

/// The corner cases beyond the documents that are about sessions.
const CASES: [usize; 18] = [2, 12, 13, 27, 28, 29, 33, 34, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47];

#[test]
fn every_demand_names_an_existing_test() {
    let tests = tests_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let mut unproved = Vec::new();
    let documents = DEMANDS.map(|(document, count)| (document, (1..=count).collect::<Vec<_>>()));
    for (document, numbers) in documents.into_iter().chain([("K", CASES.to_vec())]) {
        let rows: Vec<Vec<&str>> = rows().filter(|row| row[0].starts_with(&format!("{document}-"))).collect();
        let ids: Vec<&str> = rows.iter().map(|row| row[0]).collect();
        let wanted: Vec<String> = numbers.iter().map(|number| format!("{document}-{number:02}")).collect();
        assert_eq!(ids, wanted);
        unproved.extend(rows.iter().filter(|row| row[2] != "-" && !tests.contains(row[2])).map(|row| row[2]));
    }
    assert!(unproved.is_empty(), "no such tests: {unproved:?}");
    for row in rows() {
        println!("{:<7} {:<55} {}", row[0], row[1], if row[2] == "-" { row[3] } else { row[2] });
    }
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    TABLE.lines().map(|line| line.split('\t').collect())
}

/// The names of all tests under a folder.
fn tests_of(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            names.extend(tests_of(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&entry).unwrap();
            let tests = text.split("#[test]").skip(1).filter_map(|after| after.split_once("fn ")?.1.split_once('('));
            names.extend(tests.map(|(name, _)| name.to_owned()));
            // A module with one test for each dialect counts under its own name.
            let modules = text.split("mod ").skip(1).filter_map(|after| after.split_once(" {\n"));
            let of_dialects =
                modules.filter(|(_, body)| body.trim_start().starts_with("seamline_testkit::test_each_dialect!"));
            names.extend(of_dialects.map(|(name, _)| name.to_owned()));
        }
    }
    names
}
