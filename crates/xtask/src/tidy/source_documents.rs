//! Every entry of the source documents has a proof that exists and exercises it.

use std::collections::BTreeMap;
use std::slice;

use super::{Complaint, Subject};
use crate::source;
use crate::tree::Tree;

const PAGE: &str = "docs/source-documents.md";
/// The marks of each document, and how many it has.
const MARKS: [(&str, usize); 7] =
    [("S0-", 43), ("S1-", 114), ("S2-", 23), ("S3-", 29), ("S4-", 38), ("K", 54), ("X", 31)];
/// Presets, which every test and fixture of a preset has.
const PRESETS: [&str; 5] = ["opal", "clawos", "llxprt", "kilroy", "libr-agent"];
/// Words, in lower case, that most tests have whatever they prove.
const COMMON: &str = "abort append cases check checkpoint classify convert delta error feed fix fork index inject list \
                      open preset provider repair request reset rollback server session sse store transcript validate \
                      verify";
/// How the files of a fixture begin that are given and not expected.
const GIVEN: [&str; 2] = ["input", "records"];
/// A row that nothing proves says so and why.
const OPEN: &str = "open: ";
/// A row about a performance limit says which benchmark measures it: a timed test would fail on a busy machine.
const MEASURED: &str = "measured: ";
/// The only entries that may be measured.
const LIMITS: [&str; 6] = ["S1-86", "S1-87", "S1-88", "S1-89", "S1-90", "S1-91"];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let Some(page) = subject.tree.text(PAGE) else {
        return vec![Complaint::new(PAGE, "the page is missing")];
    };
    let rows: Vec<Row<'_>> = page.lines().enumerate().filter_map(|(index, line)| Row::read(index + 1, line)).collect();
    let mut complaints = miscounted(&rows);
    for row in &rows {
        if let Some(measured) = row.proof.strip_prefix(MEASURED) {
            complaints.extend(row.unmeasured(measured, &subject.tree).map(|fault| row.complain(fault)));
            continue;
        }
        let proofs = row.proofs();
        if proofs.is_empty() && !row.proof.starts_with(OPEN) {
            complaints.push(row.complain("the row names no test and no fixture"));
        }
        for proof in proofs {
            complaints.extend(proof.fault(row, &subject.tree).map(|fault| row.complain(fault)));
        }
    }
    complaints
}

/// Entries that are missing, or in two rows.
fn miscounted(rows: &[Row<'_>]) -> Vec<Complaint> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for mark in rows.iter().flat_map(|row| &row.marks) {
        *counts.entry(mark).or_default() += 1;
    }
    let wanted = MARKS.iter().flat_map(|(start, count)| (1..=*count).map(|number| mark(start, number)));
    wanted
        .filter_map(|mark| match counts.get(mark.as_str()) {
            Some(1) => None,
            Some(count) => Some(Complaint::new(PAGE, format!("{mark} is in {count} rows"))),
            None => Some(Complaint::new(PAGE, format!("{mark} is missing"))),
        })
        .collect()
}

/// Numbers of documents have two digits.
fn mark(start: &str, number: usize) -> String {
    if start.ends_with('-') { format!("{start}{number:02}") } else { format!("{start}{number}") }
}

/// One row of a table.
struct Row<'p> {
    line: usize,
    marks: Vec<&'p str>,
    /// The names in the column that says where it is.
    names: Vec<&'p str>,
    proof: &'p str,
}

impl<'p> Row<'p> {
    fn read(line: usize, text: &'p str) -> Option<Self> {
        let cells: Vec<&str> = text.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let [marks, _, place, proof] = cells.as_slice() else { return None };
        let marks: Vec<&str> = marks.split(", ").collect();
        let is_mark = |mark: &&str| MARKS.iter().any(|(start, _)| is_numbered(mark, start));
        let names = quoted(place).map(|name| name.rsplit("::").next().unwrap_or(name));
        let names = names.map(|name| name.trim_matches(['[', ']', '(', ')'])).collect();
        marks.iter().all(is_mark).then_some(Self { line, marks, names, proof })
    }

    fn complain(&self, message: impl Into<String>) -> Complaint {
        Complaint::at(PAGE, self.line, format!("{}: {}", self.marks.join(", "), message.into()))
    }

    fn proofs(&self) -> Vec<Proof<'p>> {
        proofs(self.proof)
    }

    /// Finds the fault in a row whose limits a benchmark measures: each proof names a line of the table that it prints.
    fn unmeasured(&self, measured: &'p str, tree: &Tree) -> Option<String> {
        if let Some(mark) = self.marks.iter().find(|mark| !LIMITS.contains(mark)) {
            return Some(format!("{mark} is not a limit of time, so a test has to prove it"));
        }
        let lines = proofs(measured);
        if lines.is_empty() {
            return Some("the row names no line of a benchmark".to_owned());
        }
        let prints = |line: &Proof<'_>| {
            let text = tree.text(line.path).filter(|_| line.path.contains("/benches/"));
            text.is_some_and(|text| text.contains(&format!("\"{}\"", line.name)))
        };
        let missing = lines.iter().find(|line| !prints(line))?;
        Some(format!("no benchmark `{}` measures `{}`", missing.path, missing.name))
    }

    /// Whether a text has a mark of the row, as a test's name or a fixture writes it.
    fn is_marked_in(&self, text: &str) -> bool {
        self.marks.iter().any(|mark| {
            let name = mark.to_ascii_lowercase().replace('-', "_");
            let padded = name.strip_prefix('k').map(|number| format!("k_{number:0>2}_"));
            let is_named = source::words(text).any(|word| {
                word.starts_with(&format!("{name}_"))
                    || padded.as_ref().is_some_and(|padded| word.starts_with(padded.as_str()))
            });
            is_named || source::contains_name(text, mark)
        })
    }
}

fn is_numbered(mark: &str, start: &str) -> bool {
    let number = mark.strip_prefix(start).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// True for a name that does not tell one proof from another.
fn is_common(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PRESETS.contains(&name.as_str()) || COMMON.split(' ').any(|common| common == name)
}

fn proofs(text: &str) -> Vec<Proof<'_>> {
    text.split(", [").filter_map(Proof::read).collect()
}

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A test or a fixture, as the page names it: `` [`name`](path) (`text`) ``.
struct Proof<'p> {
    name: &'p str,
    path: &'p str,
    /// The text that shows that the proof exercises the row.
    shows: Option<&'p str>,
}

impl<'p> Proof<'p> {
    fn read(text: &'p str) -> Option<Self> {
        let (name, rest) = text.trim_start_matches('[').split_once("](../")?;
        let (path, rest) = rest.split_once(')')?;
        Some(Self { name: name.trim_matches('`'), path, shows: quoted(rest).next() })
    }

    /// Finds the fault in the proof of a row.
    fn fault(&self, row: &Row<'_>, tree: &Tree) -> Option<String> {
        let Some(text) = self.text(tree) else {
            return Some(format!("there is no `{}` in `{}`", self.name, self.path));
        };
        if source::is_rust(self.path) && !tree.text(self.path).is_some_and(|file| is_test(file, self.name)) {
            return Some(format!("`{}` in `{}` is not a test", self.name, self.path));
        }
        // A line break in a string does not belong to the name after it.
        let text = text.replace("\\n", " ");
        let names = match &self.shows {
            Some(shows) if is_common(shows) => {
                return Some(format!("`{shows}` is too common to show what `{}` proves", self.name));
            }
            Some(shows) => slice::from_ref(shows),
            None if row.is_marked_in(self.name) || row.is_marked_in(&text) => return None,
            None => row.names.as_slice(),
        };
        let names: Vec<&str> = names.iter().copied().filter(|name| !is_common(name)).collect();
        if names.iter().any(|name| source::contains_name(&text, name)) {
            return None;
        }
        let wanted =
            if names.is_empty() { "a name that counts".to_owned() } else { format!("`{}`", names.join("`, `")) };
        Some(format!("`{}` has neither the mark nor {wanted}", self.name))
    }

    /// The text that asserts: the function without its name, or the files of the fixture without its input.
    fn text(&self, tree: &Tree) -> Option<String> {
        if source::is_rust(self.path) {
            return function(tree.text(self.path)?, self.name).map(str::to_owned);
        }
        if !self.path.ends_with(self.name) || !tree.contains(self.path) {
            return None;
        }
        let folder = format!("{}/", self.path);
        let asserts = |path: &str| {
            path == self.path
                || path.strip_prefix(&folder).is_some_and(|file| !GIVEN.iter().any(|start| file.starts_with(start)))
        };
        let files = tree.texts().filter(|(path, _)| asserts(path));
        Some(files.flat_map(|(_, text)| [text, "\n"]).collect())
    }
}

/// Whether a function has the attribute of a test above it, as tests of property-based suites have, too.
fn is_test(text: &str, name: &str) -> bool {
    let Some(at) = text.find(&format!("fn {name}(")) else { return false };
    let above = text[..at].lines().rev().skip(usize::from(!text[..at].ends_with('\n')));
    let mut above = above.map(str::trim).take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    above.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}

/// The text of a function, from behind its name to the bracket that closes it.
fn function<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let head = format!("fn {name}(");
    let at = text.find(&head)?;
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[start..start + text[start..].find(|c| c != ' ')?];
    let length = text[at..].find(&format!("\n{indent}}}"))?;
    Some(&text[at + head.len()..at + length])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complaints about rows, without those about entries that the small page does not have.
    fn complaints(rows: &str) -> Vec<String> {
        let files = [
            (PAGE, rows),
            (
                "a/tests.rs",
                "#[test]\nfn s0_01_a_pair() {\n    one();\n}\n#[test]\nfn other() {\n    finish();\n    abort(\"x\\ny\");\n}\n",
            ),
            ("fixtures/presets/opal/clean/case.toml", "policy = \"opal\"\nnames = [\"null-list\"]\n"),
            ("fixtures/presets/opal/clean/input.json", "{\"tool_calls\": null}\n"),
        ];
        let all = Subject::complaints(&files, check);
        all.into_iter().filter(|complaint| !complaint.ends_with(" is missing")).collect()
    }

    #[test]
    fn a_proof_is_a_test_or_a_fixture_that_exercises_its_row() {
        let page = "| S0-01 | Pairs | `check` | [`s0_01_a_pair`](../a/tests.rs) |\n\
                    | S0-02, S0-03 | Aborts | `Session::finish` | [`other`](../a/tests.rs), [`other`](../a/tests.rs) (`y`) |\n\
                    | K1 | Clean | preset `opal`, rule `null-list` | [`presets/opal/clean`](../fixtures/presets/opal/clean) |\n\
                    | K2 | Prose | `x` | open: it would be a guess |\n";
        assert_eq!(complaints(page), Vec::<String>::new());
    }

    #[test]
    fn a_missing_or_idle_proof_is_reported() {
        let page = "| S0-01 | Pairs | `check` | [`gone`](../a/tests.rs) |\n\
                    | S0-02 | Aborts | `Session::seal` | [`other`](../a/tests.rs) |\n\
                    | S0-03 | Aborts | `abort` | [`other`](../a/tests.rs) (`seal`) |\n\
                    | K1 | Clean | preset `opal` | [`presets/opal/none`](../fixtures/presets/opal/none) |\n\
                    | K2 | Prose | `x` | later |\n";
        assert_eq!(
            complaints(page),
            [
                "error: docs/source-documents.md:1: S0-01: there is no `gone` in `a/tests.rs`",
                "error: docs/source-documents.md:2: S0-02: `other` has neither the mark nor `seal`",
                "error: docs/source-documents.md:3: S0-03: `other` has neither the mark nor `seal`",
                "error: docs/source-documents.md:4: K1: there is no `presets/opal/none` in `fixtures/presets/opal/none`",
                "error: docs/source-documents.md:5: K2: the row names no test and no fixture",
            ]
        );
    }

    #[test]
    fn a_function_that_no_runner_calls_proves_nothing() {
        let files = [
            (PAGE, "| S0-01 | Pairs | `seal` | [`s0_01_a_pair`](../a/tests.rs), [`s0_01_run`](../a/tests.rs) |\n"),
            (
                "a/tests.rs",
                "/// Runs.\n#[tokio::test]\nasync fn s0_01_run() {\n    seal();\n}\nfn s0_01_a_pair() {\n    seal();\n}\n",
            ),
        ];
        let all = Subject::complaints(&files, check);
        let all: Vec<_> = all.into_iter().filter(|complaint| !complaint.ends_with(" is missing")).collect();
        assert_eq!(all, ["error: docs/source-documents.md:1: S0-01: `s0_01_a_pair` in `a/tests.rs` is not a test"]);
    }

    #[test]
    fn only_a_limit_of_time_is_measured() {
        let bench = "[`rollback`](../a/benches/store.rs)";
        let page = format!(
            "| S1-86, S1-87 | Fast | `x` | measured: {bench} |\n\
             | S1-88 | Fast | `x` | measured: {bench}, [`seal`](../a/benches/store.rs) |\n\
             | S1-89 | Fast | `x` | measured: [`rollback`](../a/tests.rs) |\n\
             | S1-90 | Fast | `x` | measured: somewhere |\n\
             | S1-85 | Fast | `x` | measured: {bench} |\n"
        );
        let files = [
            (PAGE, page.as_str()),
            ("a/benches/store.rs", "fn main() {\n    print(\"rollback\");\n}\n"),
            ("a/tests.rs", "fn main() {\n    print(\"rollback\");\n}\n"),
        ];
        let all = Subject::complaints(&files, check);
        let all: Vec<_> = all.into_iter().filter(|complaint| !complaint.ends_with(" is missing")).collect();
        assert_eq!(
            all,
            [
                "error: docs/source-documents.md:2: S1-88: no benchmark `a/benches/store.rs` measures `seal`",
                "error: docs/source-documents.md:3: S1-89: no benchmark `a/tests.rs` measures `rollback`",
                "error: docs/source-documents.md:4: S1-90: the row names no line of a benchmark",
                "error: docs/source-documents.md:5: S1-85: S1-85 is not a limit of time, so a test has to prove it",
            ]
        );
    }

    #[test]
    fn a_preset_or_a_generic_word_shows_nothing() {
        let opal = "[`presets/opal/clean`](../fixtures/presets/opal/clean)";
        let page = format!(
            "| K1 | Clean | preset `opal` | {opal} |\n\
             | K2 | Clean | `policy` | {opal} (`opal`) |\n\
             | S0-02 | Aborts | `Session::abort` | [`other`](../a/tests.rs), [`other`](../a/tests.rs) (`abort`) |\n\
             | S0-03 | Aborts | `Session::abort` | [`other`](../a/tests.rs) (`abort(\"x`) |\n\
             | K3 | Clean | preset `opal` | {opal} (`policy = \"opal\"`) |\n"
        );
        assert_eq!(
            complaints(&page),
            [
                "error: docs/source-documents.md:1: K1: `presets/opal/clean` has neither the mark nor a name that counts",
                "error: docs/source-documents.md:2: K2: `opal` is too common to show what `presets/opal/clean` proves",
                "error: docs/source-documents.md:3: S0-02: `other` has neither the mark nor a name that counts",
                "error: docs/source-documents.md:3: S0-02: `abort` is too common to show what `other` proves",
            ]
        );
    }

    #[test]
    fn neither_a_title_nor_an_input_shows_what_is_asserted() {
        let opal = "[`presets/opal/clean`](../fixtures/presets/opal/clean)";
        let page = format!(
            "| S0-02 | Aborts | `other` | [`other`](../a/tests.rs) |\n\
             | K1 | Clean | `clean` | {opal}, {opal} (`tool_calls`) |\n"
        );
        assert_eq!(
            complaints(&page),
            [
                "error: docs/source-documents.md:1: S0-02: `other` has neither the mark nor `other`",
                "error: docs/source-documents.md:2: K1: `presets/opal/clean` has neither the mark nor `clean`",
                "error: docs/source-documents.md:2: K1: `presets/opal/clean` has neither the mark nor `tool_calls`",
            ]
        );
    }

    #[test]
    fn every_entry_is_in_one_row() {
        let files = [(PAGE, "| X1 | A | `a` | open: a |\n| X1 | A | `a` | open: a |\n")];
        let all = Subject::complaints(&files, check);
        assert_eq!(all.len(), 332);
        assert!(all.contains(&"error: docs/source-documents.md: X1 is in 2 rows".to_owned()));
        assert!(all.contains(&"error: docs/source-documents.md: S1-114 is missing".to_owned()));
    }

    #[test]
    fn marks_of_tests_are_whole_numbers() {
        let row = Row::read(1, "| K4, S0-13 | A | `a` | open: a |").unwrap();
        for text in ["fn k_04_one_id(", "fn s0_13_both_ends(", "source = \"K4\""] {
            assert!(row.is_marked_in(text), "{text}");
        }
        for text in ["fn k_14_media(", "fn s0_1_x(", "fn s0_134_x("] {
            assert!(!row.is_marked_in(text), "{text}");
        }
    }
}
