//! Files that a new rule, record kind, dialect, provider or command touches.
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
    /// A folder of another kind, whose files name the representative because they build on it.
    except: &'static str,
}

/// The folder of providers. A provider names the dialect that it serves; a new dialect brings its own.
const PROVIDERS: &str = "crates/seamline-dialects/src/providers/";
/// No folder is left out.
const NOTHING: &str = "-";

/// The chores name representatives as examples; an extension does not touch them.
const CHORES: &str = "crates/xtask/";

const KINDS: [Kind; 5] = [
    Kind {
        name: "rule",
        representative: "PAIR009",
        needles: &["PAIR009", "orphan_server_result", "orphan-server-result"],
        within: "",
        home: "crates/seamline-rules/src/rules/pairing/orphan_server_result",
        except: NOTHING,
    },
    Kind {
        name: "record kind",
        representative: "Record::Compact",
        needles: &["Record::Compact", "enum Record"],
        within: "",
        home: "crates/seamline-store/src/record",
        except: NOTHING,
    },
    Kind {
        name: "dialect",
        representative: "bedrock_converse",
        needles: &["bedrock_converse", "BedrockConverse"],
        within: "",
        home: "crates/seamline-dialects/src/bedrock_converse/",
        except: PROVIDERS,
    },
    Kind {
        name: "provider",
        representative: "bedrock-nova",
        needles: &["bedrock-nova", "bedrock_nova"],
        within: "",
        home: "crates/seamline-dialects/src/providers/bedrock_nova",
        except: NOTHING,
    },
    Kind {
        name: "command",
        representative: "seamline assemble",
        needles: &["mod assemble", "assemble::", "Assemble"],
        within: "crates/seamline-cli/",
        home: "crates/seamline-cli/src/commands/assemble",
        except: NOTHING,
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
        note: "counted by a representative: files whose code, path or text names it; providers of a dialect are their own kind.",
    }
}

fn row(tree: &Tree, kind: &Kind) -> Row {
    let is_left_out = |path: &str| path.starts_with(CHORES) || path.starts_with(kind.except);
    let files = tree.paths().filter(|path| path.starts_with(kind.within) && !is_left_out(path));
    let areas: Vec<Area> = files.filter_map(|path| area(tree, kind, path)).collect();
    let counts = AREAS.map(|wanted| areas.iter().filter(|area| **area == wanted).count());
    let mut figures = vec![Figure::Text(kind.representative.to_owned())];
    figures.extend(counts.map(|count| Figure::Count(count as u64)));
    Row { name: kind.name.to_owned(), figures }
}

/// Where a file belongs that names the representative. A source that names it only in its tests counts as a test.
fn area(tree: &Tree, kind: &Kind, path: &str) -> Option<Area> {
    let is_in = |text: &str| kind.needles.iter().any(|needle| source::contains_name(text, needle));
    let is_in_lines = |lines: Vec<(usize, &str)>| lines.iter().any(|(_, line)| is_in(line));
    let text = tree.text(path).unwrap_or_default();
    let is_rust = source::is_rust(path);
    let is_named = is_in(path) || if is_rust { is_in_lines(source::code_with_tests(text)) } else { is_in(text) };
    if !is_named {
        return None;
    }
    Some(if path.starts_with(kind.home) {
        Area::Home
    } else if path.starts_with("fixtures/") {
        Area::Fixture
    } else if path.starts_with("fuzz/") || source::is_test_file(path) {
        Area::Test
    } else if !is_rust {
        Area::Document
    } else if is_in(path) || is_in_lines(source::code(text)) {
        Area::Source
    } else {
        Area::Test
    })
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
            ("crates/seamline/src/f.rs", "#[cfg(test)]\nmod tests {\n    const A: &str = \"bedrock_converse\";\n}\n"),
            ("crates/seamline-dialects/src/providers/g.rs", "use crate::bedrock_converse;"),
            ("docs/d.md", "`bedrock_converse`"),
            ("fixtures/dialects/bedrock_converse/e/input.json", "{}"),
        ]);
        let counts: Vec<Figure> = [1, 1, 2, 1, 1].map(Figure::Count).into();
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
        assert_eq!(row(&tree, &KINDS[4]).figures[1..], counts);
    }
}
