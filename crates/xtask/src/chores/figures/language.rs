//! Words that make texts hard to read, per crate and in the documents.

use std::collections::BTreeMap;

use super::Table;
use super::table::{Row, total};
use crate::tidy::language;
use crate::tree::Tree;

/// Where documents are counted.
const DOCUMENTS: &str = "docs and root";

pub(super) fn table(tree: &Tree) -> Table {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (path, text) in tree.texts().filter(|(path, _)| language::is_prose(path)) {
        let place = path.strip_prefix("crates/").and_then(|path| path.split('/').next()).unwrap_or(DOCUMENTS);
        let counts = places.entry(place).or_insert_with(|| vec![0; language::COUNTED.len()]);
        for line in text.lines() {
            for (count, phrase) in counts.iter_mut().zip(language::COUNTED) {
                *count += usize::from(language::contains_phrase(line, phrase));
            }
        }
    }
    let mut rows: Vec<Row> = places.into_iter().map(|(place, counts)| Row::counts(place, &counts)).collect();
    rows.push(total(&rows));
    Table {
        title: "lines with banned words",
        columns: language::COUNTED.to_vec(),
        rows,
        note: "Rust, Markdown and TOML outside of fixtures; `cargo xtask tidy` fails on them.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_per_crate_and_word() {
        let word = language::COUNTED[0];
        let code = format!("// {word} and {word}\nfn a() {{}}\n");
        let tree = Tree::of(&[("crates/a/src/lib.rs", &code), ("README.md", word), ("fixtures/a.md", word)]);
        let rows = table(&tree).rows;
        let first: Vec<(&str, &super::super::table::Figure)> =
            rows.iter().map(|row| (row.name.as_str(), &row.figures[0])).collect();
        let one = super::super::table::Figure::Count;
        assert_eq!(first, [("a", &one(1)), (DOCUMENTS, &one(1)), ("total", &one(2))]);
    }
}
