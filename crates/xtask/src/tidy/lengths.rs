//! Files are short.

use super::{Complaint, Subject};
use crate::source;

/// The target and the limit of one kind of file, in lines without tests.
struct Length {
    kind: &'static str,
    aim: usize,
    most: usize,
}

const FILE: Length = Length { kind: "file", aim: 250, most: 500 };
const RULE: Length = Length { kind: "rule", aim: 120, most: 250 };
const FACE: Length = Length { kind: "mod.rs or lib.rs", aim: 150, most: 150 };
const TESTS: Length = Length { kind: "file of tests", aim: 500, most: 500 };
/// The map of the code: a reader takes it in at one go.
const MAP: Length = Length { kind: "map of the code", aim: 200, most: 200 };
const MAP_PATH: &str = "ARCHITECTURE.md";
const RULES_FOLDER: &str = "crates/seamline-rules/src/rules/";

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let sources = subject.tree.rust().map(|(path, text)| (path, source::without_tests(text).len(), length(path)));
    let maps = subject.tree.texts().filter(|(path, _)| *path == MAP_PATH);
    let maps = maps.map(|(path, text)| (path, text.lines().count(), &MAP));
    let complaints = sources.chain(maps).filter_map(|(path, count, length)| {
        let message = |bound| format!("{count} lines; a {} has at most {bound}", length.kind);
        if count > length.most {
            Some(Complaint::new(path, message(length.most)))
        } else if count > length.aim {
            let message = format!("{count} lines; a {} aims at {}", length.kind, length.aim);
            Some(Complaint::new(path, message).into_warning())
        } else {
            None
        }
    });
    complaints.collect()
}

fn length(path: &str) -> &'static Length {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name == "mod.rs" || name == "lib.rs" {
        &FACE
    } else if name == "tests.rs" || path.contains("/tests/") {
        &TESTS
    } else if path.starts_with(RULES_FOLDER) {
        &RULE
    } else {
        &FILE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints_about(path: &str, lines: usize) -> Vec<String> {
        let text = "// a\n".repeat(lines);
        Subject::complaints(&[(path, &text)], check)
    }

    #[test]
    fn each_kind_of_file_has_its_own_bound() {
        assert_eq!(complaints_about("crates/a/src/b.rs", 250), Vec::<String>::new());
        assert_eq!(
            complaints_about("crates/a/src/b.rs", 251),
            ["warning: crates/a/src/b.rs: 251 lines; a file aims at 250"]
        );
        assert_eq!(
            complaints_about("crates/a/src/b.rs", 501),
            ["error: crates/a/src/b.rs: 501 lines; a file has at most 500"]
        );
        assert_eq!(complaints_about("crates/a/src/b/tests.rs", 500), Vec::<String>::new());
        let rule = "crates/seamline-rules/src/rules/pairing/x.rs";
        assert_eq!(complaints_about(rule, 251), [format!("error: {rule}: 251 lines; a rule has at most 250")]);
        let face = "crates/seamline-rules/src/rules/mod.rs";
        assert_eq!(
            complaints_about(face, 151),
            [format!("error: {face}: 151 lines; a mod.rs or lib.rs has at most 150")]
        );
    }

    #[test]
    fn the_map_of_the_code_is_short() {
        let about = |path: &str, lines: usize| Subject::complaints(&[(path, &"a\n".repeat(lines))], check);
        assert_eq!(about(MAP_PATH, 200), Vec::<String>::new());
        assert_eq!(about(MAP_PATH, 201), ["error: ARCHITECTURE.md: 201 lines; a map of the code has at most 200"]);
        assert_eq!(about("docs/a.md", 900), Vec::<String>::new());
    }

    #[test]
    fn tests_do_not_count() {
        let text = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    a\n".repeat(900));
        let said = Subject::complaints(&[("crates/a/src/b.rs", &text)], check);
        assert_eq!(said, Vec::<String>::new());
    }
}
