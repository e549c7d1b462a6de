//! Lines per crate.

use std::collections::BTreeMap;

use super::Table;
use super::table::{Row, total};
use crate::source;
use crate::tree::Tree;

#[derive(Default)]
struct Lines {
    code: usize,
    tests: usize,
    total: usize,
    files: usize,
}

pub(super) fn table(tree: &Tree) -> Table {
    let mut crates: BTreeMap<&str, Lines> = BTreeMap::new();
    for (path, text) in tree.rust() {
        let Some((folder, _)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/')) else { continue };
        let lines = crates.entry(folder).or_default();
        lines.files += 1;
        lines.total += text.lines().count();
        let all = source::code_with_tests(text).len();
        let code = if source::is_test_file(path) { 0 } else { source::code(text).len() };
        lines.code += code;
        lines.tests += all - code;
    }
    let row =
        |(folder, lines): (&str, Lines)| Row::counts(folder, &[lines.code, lines.tests, lines.total, lines.files]);
    let mut rows: Vec<Row> = crates.into_iter().map(row).collect();
    rows.push(total(&rows));
    Table {
        title: "lines per crate",
        columns: vec!["code", "tests", "all lines", "files"],
        rows,
        note: "code and tests: without blank lines and comments; tests include benches and examples.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_tests_and_all_lines_are_counted_apart() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! Doc.\n\nfn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n"),
            ("crates/a/tests/suite.rs", "fn c() {}\n"),
            ("fuzz/a.rs", "fn d() {}\n"),
        ]);
        let rows = table(&tree).rows;
        assert_eq!(rows, [Row::counts("a", &[1, 5, 8, 2]), Row::counts("total", &[1, 5, 8, 2])]);
    }
}
