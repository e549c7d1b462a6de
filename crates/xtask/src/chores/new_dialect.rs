//! `cargo xtask new-dialect <name>`: the skeleton of a dialect, its row in the testkit's table and its first fixtures.
//!
//! The skeleton compiles and speaks a small made-up API. It does not pass tidy until its blanks are filled.

use anyhow::{Context, Result, bail};

use crate::source;
use crate::tree::Tree;
use crate::workspace::Workspace;

const DIALECTS: &str = "crates/seamline-dialects/src";
const LIST: &str = "crates/seamline-dialects/src/lib.rs";
const TABLE: &str = "crates/seamline-testkit/src/dialect.rs";
const TABLE_FOLDER: &str = "crates/seamline-testkit/src/dialect";
/// The mark of a blank; in two halves, because tidy refuses the whole.
const BLANK: &str = concat!("TO", "DO");

/// The files of a dialect's folder, with their templates.
const FILES: [(&str, &str); 11] = [
    ("mod.rs", include_str!("../../templates/dialect/mod.rs.txt")),
    ("constraints.rs", include_str!("../../templates/dialect/constraints.rs.txt")),
    ("provider.rs", include_str!("../../templates/dialect/provider.rs.txt")),
    ("detect.rs", include_str!("../../templates/dialect/detect.rs.txt")),
    ("wire.rs", include_str!("../../templates/dialect/wire.rs.txt")),
    ("write.rs", include_str!("../../templates/dialect/write.rs.txt")),
    ("lift.rs", include_str!("../../templates/dialect/lift.rs.txt")),
    ("render.rs", include_str!("../../templates/dialect/render.rs.txt")),
    ("stream.rs", include_str!("../../templates/dialect/stream.rs.txt")),
    ("response.rs", include_str!("../../templates/dialect/response.rs.txt")),
    ("words.rs", include_str!("../../templates/dialect/words.rs.txt")),
];
const TESTKIT_FILE: &str = include_str!("../../templates/dialect/testkit.rs.txt");
/// The first fixtures, one for each thing that a dialect does, with their templates. `just bless` writes what is
/// expected.
const FIXTURES: [(&str, &str); 6] = [
    ("dialects/{{name}}/full/input.json", include_str!("../../templates/dialect/full.json.txt")),
    ("rules/pairing/unanswered-call/{{name}}/input.json", include_str!("../../templates/dialect/repair.json.txt")),
    ("rules/pairing/unanswered-call/{{name}}/case.toml", include_str!("../../templates/dialect/repair.toml.txt")),
    ("convert/{{name}}.json", include_str!("../../templates/dialect/convert.json.txt")),
    ("streams/{{name}}/text-and-call/input.bin", include_str!("../../templates/dialect/stream.bin.txt")),
    ("streams/{{name}}/text-and-call/case.toml", include_str!("../../templates/dialect/stream.toml.txt")),
];
/// The instructions that are printed at the end.
const NEXT_STEPS: &str = include_str!("../../templates/dialect/next.txt");

pub(crate) fn run(workspace: &Workspace, name: &str) -> Result<()> {
    let tree = Tree::read(workspace.root())?;
    super::new_rule::write_all(workspace, &plan(&tree, name)?)?;
    print!("{}", fill(NEXT_STEPS, name));
    Ok(())
}

/// Fills a template's places for the name of the dialect and of its provider.
fn fill(template: &str, name: &str) -> String {
    template.replace("{{name}}", name).replace("{{provider}}", &name.replace('_', "-")).replace("{{blank}}", BLANK)
}

/// The files to write, each with its whole text.
fn plan(tree: &Tree, name: &str) -> Result<Vec<(String, String)>> {
    let is_word = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let starts_well = name.starts_with(|first: char| first.is_ascii_lowercase());
    let is_name = name.contains('_') && name.split('_').all(|word| !word.is_empty() && is_word(word));
    if !is_name || !starts_well {
        bail!("cannot name a dialect `{name}`\nhint: give the vendor and the API in lower case, such as `vendor_api`");
    }
    let folder = format!("{DIALECTS}/{name}");
    if tree.contains(&folder) || tree.contains(&format!("{folder}.rs")) {
        bail!("cannot write a new dialect: {folder} exists");
    }
    let list = tree.text(LIST).with_context(|| format!("cannot read {LIST}"))?;
    let table = tree.text(TABLE).with_context(|| format!("cannot read {TABLE}"))?;
    let precedence = names_in(list)?.len();
    let fill = |template: &str| fill(template, name).replace("{{precedence}}", &precedence.to_string());
    let mut files: Vec<_> = FILES.iter().map(|(file, text)| (format!("{folder}/{file}"), fill(text))).collect();
    files.push((LIST.to_owned(), listed(list, name)?));
    files.push((format!("{TABLE_FOLDER}/{name}.rs"), fill(TESTKIT_FILE)));
    files.push((TABLE.to_owned(), tabled(table, name)?));
    files.extend(FIXTURES.iter().map(|(path, text)| (format!("fixtures/{}", fill(path)), fill(text))));
    Ok(files)
}

/// The lines between the line that opens a list and the brace that closes it, and where they start.
fn entries<'t>(text: &'t str, opening: &str, path: &str) -> Result<(usize, Vec<&'t str>)> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.starts_with(opening));
    let start = start.with_context(|| format!("cannot find the line `{opening}` in {path}"))? + 1;
    let count = lines[start..].iter().position(|line| *line == "}");
    let count = count.with_context(|| format!("cannot find the end of `{opening}` in {path}"))?;
    Ok((start, lines[start..start + count].to_vec()))
}

const LIST_OPENING: &str = "dialect::dialects! {";

/// The names in the list of dialects.
pub(crate) fn names_in(list: &str) -> Result<Vec<&str>> {
    let (_, names) = entries(list, LIST_OPENING, LIST)?;
    Ok(names.into_iter().map(|line| line.trim().trim_end_matches(',')).collect())
}

/// The list of dialects with one more, in alphabetical order.
fn listed(list: &str, name: &str) -> Result<String> {
    let (start, _) = entries(list, LIST_OPENING, LIST)?;
    let names = names_in(list)?;
    let at = start + names.iter().position(|other| *other > name).unwrap_or(names.len());
    Ok(inserted(list, at, &format!("    {name},")))
}

/// The testkit's table with one more row at its end.
fn tabled(table: &str, name: &str) -> Result<String> {
    let (start, rows) = entries(table, "dialects! {", TABLE)?;
    let row = format!("    /// {BLANK}: the name of the API.\n    {name} => {},", source::type_name(name));
    Ok(inserted(table, start + rows.len(), &row))
}

fn inserted(text: &str, at: usize, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(at, line);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsStr;
    use std::path::Path;

    use super::*;

    fn tree() -> Tree {
        Tree::of(&[
            (LIST, "mod detect;\n\ndialect::dialects! {\n    a_chat,\n    z_chat,\n}\n\npub use detect::detect;\n"),
            (TABLE, "macro_rules! dialects {\n}\n\ndialects! { $\n    /// A.\n    a_chat => AChat,\n}\n\nrest\n"),
            ("crates/seamline-dialects/src/a_chat/mod.rs", ""),
            ("crates/seamline-dialects/src/json_lines.rs", ""),
        ])
    }

    /// The file with the part of the row that the fake provider needs.
    const SERVICE: &str = "crates/seamline-testkit/src/provider/service.rs";

    fn root() -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn a_dialect_is_written_and_registered_with_two_lines_outside_its_folders() {
        let files = plan(&tree(), "vendor_api").unwrap();
        let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        let mut expected: Vec<_> = FILES.iter().map(|(file, _)| format!("{DIALECTS}/vendor_api/{file}")).collect();
        expected.push(LIST.to_owned());
        expected.push("crates/seamline-testkit/src/dialect/vendor_api.rs".to_owned());
        expected.push(TABLE.to_owned());
        expected.extend(
            [
                "dialects/vendor_api/full/input.json",
                "rules/pairing/unanswered-call/vendor_api/input.json",
                "rules/pairing/unanswered-call/vendor_api/case.toml",
                "convert/vendor_api.json",
                "streams/vendor_api/text-and-call/input.bin",
                "streams/vendor_api/text-and-call/case.toml",
            ]
            .map(|path| format!("fixtures/{path}")),
        );
        assert_eq!(paths, expected);
        let text = |path: &str| &files.iter().find(|(other, _)| other == path).unwrap().1;
        assert_eq!(
            text(LIST),
            "mod detect;\n\ndialect::dialects! {\n    a_chat,\n    vendor_api,\n    z_chat,\n}\n\npub use detect::detect;\n"
        );
        let row = format!("    /// {BLANK}: the name of the API.\n    vendor_api => VendorApi,\n");
        assert_eq!(
            *text(TABLE),
            format!(
                "macro_rules! dialects {{\n}}\n\ndialects! {{ $\n    /// A.\n    a_chat => AChat,\n{row}}}\n\nrest\n"
            )
        );
        assert!(text("crates/seamline-dialects/src/vendor_api/detect.rs").contains("precedence: 2,"));
    }

    #[test]
    fn no_placeholder_is_left_and_every_blank_is_marked() {
        for (path, text) in plan(&tree(), "vendor_api").unwrap() {
            assert!(!text.contains("{{"), "{path}");
        }
        let marked = FILES.iter().filter(|(_, text)| text.contains("{{blank}}")).count();
        assert_eq!(marked, FILES.len(), "every file of the folder has a blank to fill");
        for (path, text) in FIXTURES.iter().filter(|(path, _)| Path::new(path).extension() == Some(OsStr::new("json")))
        {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{path}");
        }
    }

    #[test]
    fn the_skeleton_fills_every_field_of_the_constraints_and_the_row() {
        let fields = |text: &str, opening: &str, visibility: &str| -> BTreeSet<String> {
            let body = text.split_once(opening).map_or("", |(_, rest)| rest).split_once("\n}").map_or("", |(b, _)| b);
            let lines = body.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
            let names = lines.filter_map(|line| line.trim().strip_prefix(visibility)?.split([':', ',']).next());
            names.filter(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')).map(str::to_owned).collect()
        };
        let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
        let declared = fields(&read("crates/seamline-model/src/constraints.rs"), "pub struct Constraints {", "pub ");
        let template = FILES.iter().find(|(file, _)| *file == "constraints.rs").unwrap().1;
        assert_eq!(fields(template, "Constraints = Constraints {", ""), declared);
        let row = fields(&read(TABLE), "pub(crate) struct Row {", "pub(crate) ");
        assert_eq!(fields(TESTKIT_FILE, "ROW: Row = Row {", ""), row);
        let service = fields(&read(SERVICE), "pub(crate) struct Service {", "pub(crate) ");
        assert_eq!(fields(TESTKIT_FILE, "SERVICE: Service = Service {", ""), service);
        let dialect = fields(&read("crates/seamline-dialects/src/dialect.rs"), "pub struct Dialect {", "pub(crate) ");
        assert_eq!(fields(FILES[0].1, "DIALECT: Dialect = Dialect {", ""), dialect);
    }

    #[test]
    fn the_real_list_and_table_take_a_dialect() {
        let tree = Tree::read(&root()).unwrap();
        let files = plan(&tree, "vendor_api").unwrap();
        let text = |path: &str| &files.iter().find(|(other, _)| other == path).unwrap().1;
        let folders = |name: &&str| tree.contains(&format!("{DIALECTS}/{name}/constraints.rs"));
        let names = names_in(tree.text(LIST).unwrap()).unwrap();
        assert!(names.iter().all(folders) && names.len() >= 5, "{names:?}");
        assert_eq!(names_in(text(LIST)).unwrap().len(), names.len() + 1);
        assert_eq!(text(TABLE).lines().count(), tree.text(TABLE).unwrap().lines().count() + 2);
    }

    /// Copies the crates and fixtures into an empty folder. Returns the folder as a workspace.
    fn copied(folder: &Path) -> Workspace {
        let (root, tree) = (root(), Tree::read(&root()).unwrap());
        let needed = ["crates/", "fixtures/", "docs/", "deploy/", "Cargo.toml", "Cargo.lock"];
        for path in tree.paths().filter(|path| needed.iter().any(|start| path.starts_with(start))) {
            let copy = folder.join(path);
            std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
            std::fs::copy(root.join(path), copy).unwrap();
        }
        Workspace::at(folder.to_owned())
    }

    /// A target folder of its own, because cargo gives the crates of the copy the names of ours. It is kept, so that only
    /// the first run compiles the crates of the registry.
    fn target() -> std::path::PathBuf {
        std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("new-dialect")
    }

    /// Compiles the skeleton only in `cargo xtask soak`, because that takes minutes.
    #[test]
    fn the_skeleton_changes_two_files_and_compiles() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copied(folder.path());
        let before = Tree::read(copy.root()).unwrap();
        run(&copy, "vendor_api").unwrap();
        let after = Tree::read(copy.root()).unwrap();
        let changed: Vec<&str> =
            before.texts().filter(|(path, text)| after.text(path) != Some(*text)).map(|(path, _)| path).collect();
        assert_eq!(changed, [LIST, TABLE], "the generator changes two files that exist");
        assert!(run(&copy, "vendor_api").is_err(), "a second run would overwrite the dialect");
        if std::env::var_os("SEAMLINE_SOAK").is_none() {
            return;
        }
        // The tests of the library and of the proxy run for every dialect.
        let crates = ["seamline-dialects", "seamline-testkit", "seamline", "seamline-proxy"];
        let packages = crates.into_iter().flat_map(|name| ["--package", name]);
        let args: Vec<&str> = ["check", "--quiet", "--tests"].into_iter().chain(packages).collect();
        let output = copy.cargo(&args).env("CARGO_TARGET_DIR", target()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn the_next_steps_name_every_file_with_a_blank() {
        let steps = fill(NEXT_STEPS, "vendor_api");
        assert!(!steps.contains("{{"), "{steps}");
        for (file, _) in FILES {
            assert!(steps.contains(file), "{file}");
        }
        for (path, _) in FIXTURES {
            let path = format!("fixtures/{}", fill(path, "vendor_api"));
            let folder = Path::new(&path).parent().unwrap().display().to_string();
            assert!(steps.contains(&path) || steps.contains(&format!("{folder}/")), "{path}");
        }
    }

    #[test]
    fn bad_names_and_dialects_that_exist_are_refused() {
        for name in ["vendor", "Vendor_api", "vendor__api", "vendor-api", "1_api", "a_chat", "json_lines"] {
            assert!(plan(&tree(), name).is_err(), "{name}");
        }
    }
}
