//! Files that a new rule, record kind, dialect or command touches.
//!
//! Counted by a representative: every file that names it is a file that a new one of its kind may have to name, too.

use super::Table;
use super::table::{Figure, Row};
use crate::source;
use crate::tree::Tree;

/// One kind of extension, with its representative member.
struct Kind {
    name: &'static str,
    representative: &'static str,
    /// Texts by which a file names the representative.
    needles: &'static [&'static str],
    /// The only folder that is searched, if the texts mean something else elsewhere.
    within: &'static str,
    /// The representative's own folder or file, which is counted apart.
    home: &'static str,
}

/// The chores name representatives as examples; an extension does not touch them.
const CHORES: &str = "crates/xtask/";

const KINDS: [Kind; 4] = [
    Kind {
        name: "rule",
        representative: "PAIR009",
        needles: &["PAIR009", "orphan_server_result", "orphan-server-result"],
        within: "",
        home: "crates/seamline-rules/src/rules/pairing/orphan_server_result",
    },
    Kind {
        name: "record kind",
        representative: "Record::Compact",
        needles: &["Record::Compact", "enum Record"],
        within: "",
        home: "crates/seamline-store/src/record",
    },
    Kind {
        name: "dialect",
        representative: "bedrock_converse",
        needles: &["bedrock_converse", "BedrockConverse"],
        within: "",
        home: "crates/seamline-dialects/src/bedrock_converse/",
    },
    Kind {
        name: "command",
        representative: "seamline assemble",
        needles: &["mod assemble", "assemble::", "Assemble"],
        within: "crates/seamline-cli/",
        home: "crates/seamline-cli/src/commands/assemble",
    },
];

/// Where a file belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Area {
    Home,
    Source,
    Test,
    Fixture,
    Document,
}

const AREAS: [Area; 5] = [Area::Home, Area::Source, Area::Test, Area::Fixture, Area::Document];

pub(super) fn table(tree: &Tree) -> Table {
    Table {
        title: "files that a new one touches",
        columns: vec!["representative", "its own", "other sources", "tests", "fixtures", "docs and manifests"],
        rows: KINDS.iter().map(|kind| row(tree, kind)).collect(),
        note: "counted by a representative: files whose code, path or text names it.",
    }
}

fn row(tree: &Tree, kind: &Kind) -> Row {
    let is_searched = |path: &&str| path.starts_with(kind.within) && !path.starts_with(CHORES);
    let files = tree.paths().filter(is_searched).filter(|path| names(tree, kind, path));
    let areas: Vec<Area> = files.map(|path| area(kind, path)).collect();
    let counts = AREAS.map(|wanted| areas.iter().filter(|area| **area == wanted).count());
    let mut figures = vec![Figure::Text(kind.representative.to_owned())];
    figures.extend(counts.map(|count| Figure::Count(count as u64)));
    Row { name: kind.name.to_owned(), figures }
}

fn names(tree: &Tree, kind: &Kind, path: &str) -> bool {
    let is_in = |text: &str| kind.needles.iter().any(|needle| source::contains_name(text, needle));
    let Some(text) = tree.text(path) else { return is_in(path) };
    is_in(path)
        || if source::is_rust(path) {
            source::code_with_tests(text).iter().any(|(_, line)| is_in(line))
        } else {
            is_in(text)
        }
}

fn area(kind: &Kind, path: &str) -> Area {
    if path.starts_with(kind.home) {
        Area::Home
    } else if path.starts_with("fixtures/") {
        Area::Fixture
    } else if path.starts_with("fuzz/") || source::is_test_file(path) {
        Area::Test
    } else if source::is_rust(path) {
        Area::Source
    } else {
        Area::Document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_area() {
        let tree = Tree::of(&[
            ("crates/seamline-dialects/src/bedrock_converse/mod.rs", ""),
            ("crates/seamline-dialects/src/lib.rs", "mod bedrock_converse;"),
            ("crates/seamline-guard/src/a.rs", "// not in code: bedrock_converse"),
            ("crates/xtask/src/a.rs", "const A: &str = \"bedrock_converse\";"),
            ("crates/seamline/src/b.rs", "fn my_bedrock_converse_2() {}"),
            ("crates/seamline/tests/suite/c.rs", "let a = \"bedrock_converse\";"),
            ("docs/d.md", "`bedrock_converse`"),
            ("fixtures/dialects/bedrock_converse/e/input.json", "{}"),
        ]);
        let counts: Vec<Figure> = [1, 1, 1, 1, 1].map(Figure::Count).into();
        assert_eq!(row(&tree, &KINDS[2]).figures[1..], counts);
    }

    #[test]
    fn a_command_is_looked_for_in_its_crate_alone() {
        let tree = Tree::of(&[
            ("crates/seamline-cli/src/commands/assemble.rs", "pub(crate) struct Assemble;"),
            ("crates/seamline-cli/src/args.rs", "Assemble(assemble::Assemble),"),
            ("crates/seamline-cli/src/render.rs", "use seamline_assemble::Flaw;"),
            ("crates/seamline/src/lib.rs", "struct Assemble;"),
        ]);
        let counts: Vec<Figure> = [1, 1, 0, 0, 0].map(Figure::Count).into();
        assert_eq!(row(&tree, &KINDS[3]).figures[1..], counts);
    }
}
