//! `cargo xtask new-rule <group> <name>`: writes the skeleton of a rule and of its first two fixtures.
//!
//! The skeleton compiles and has no findings. Tidy fails until its blanks are filled.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};

use crate::source;
use crate::tree::Tree;
use crate::workspace::Workspace;

const RULES: &str = "crates/seamline-rules/src/rules";
const REGISTER: &str = "crates/seamline-rules/src/rules/mod.rs";
/// The mark of a blank, in two halves because tidy refuses the whole word.
const BLANK: &str = concat!("TO", "DO");

/// Writes the files of the new rule.
pub(crate) fn run(workspace: &Workspace, group: &str, name: &str) -> Result<()> {
    let tree = Tree::read(workspace.root())?;
    write_all(workspace, &plan(&tree, group, name)?)?;
    println!("next: write the documentation, the example, the check, the fix");
    Ok(())
}

/// Writes files, and prints for each whether it is new.
pub(super) fn write_all(workspace: &Workspace, files: &[(String, String)]) -> Result<()> {
    for (path, text) in files {
        let full = workspace.root().join(path);
        if let Some(folder) = full.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let verb = if full.exists() { "changed" } else { "wrote" };
        std::fs::write(&full, text).with_context(|| format!("cannot write {path}"))?;
        println!("{verb} {path}");
    }
    Ok(())
}

/// The files to write, with their texts.
fn plan(tree: &Tree, group: &str, name: &str) -> Result<Vec<(String, String)>> {
    let is_name = name
        .split('-')
        .all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
    if !is_name {
        bail!("`{name}` is not a name of a rule\nhint: use lower case and hyphens, such as `orphan-result`");
    }
    let module = name.replace('-', "_");
    let face = format!("{RULES}/{group}/mod.rs");
    let Some(face_text) = tree.text(&face) else {
        bail!("unknown group `{group}`\nhint: use one of {}", groups(tree).join(", "));
    };
    let path = format!("{RULES}/{group}/{module}.rs");
    if tree.contains(&path) {
        bail!("{path} exists already");
    }
    let register = tree.text(REGISTER).with_context(|| format!("{REGISTER} is missing"))?;
    let code = next_code(tree, group);
    let mut files = vec![
        (path, skeleton(group, name, &code)),
        (face, add_module(face_text, &module)),
        (REGISTER.to_owned(), register_rule(register, group, &module)?),
    ];
    let cases =
        [("example", "the conversation of the rule's documentation"), ("clean", "a near miss without a finding")];
    for (case, why) in cases {
        let folder = format!("fixtures/rules/{group}/{name}/{case}");
        files.push((format!("{folder}/case.toml"), case_toml(why)));
        files.push((format!("{folder}/input.json"), INPUT.to_owned()));
    }
    Ok(files)
}

fn groups(tree: &Tree) -> Vec<&str> {
    tree.paths()
        .filter_map(|path| path.strip_prefix(RULES)?.strip_prefix('/')?.strip_suffix("/mod.rs"))
        .filter(|group| !group.contains('/'))
        .collect()
}

/// The next free code of the group. Pages in docs count too: the code of a removed rule is not reused.
fn next_code(tree: &Tree, group: &str) -> String {
    let folder = format!("{RULES}/{group}/");
    let declared: BTreeSet<(&str, u32)> = tree
        .rust()
        .filter(|(path, _)| path.starts_with(&folder))
        .flat_map(|(_, text)| source::code(text))
        .filter_map(|(_, line)| source::declared_code(line))
        .collect();
    let Some((prefix, highest)) = declared.last().copied() else {
        return format!("{}001", group.to_ascii_uppercase());
    };
    let documented = tree
        .paths()
        .filter_map(|path| path.strip_prefix("docs/rules/")?.strip_suffix(".md"))
        .filter_map(source::split_code)
        .filter(|(other, _)| *other == prefix)
        .map(|(_, number)| number);
    let highest = documented.fold(highest, u32::max);
    format!("{prefix}{:03}", highest + 1)
}

fn skeleton(group: &str, name: &str, code: &str) -> String {
    let variant = source::type_name(group);
    let shown = INPUT.lines().map(|line| format!("    /// {line}")).collect::<Vec<_>>().join("\n");
    format!(
        "//! `{code} {name}`

use seamline_model::{{Message, MessageIndex}};

use crate::context::Context;
use crate::rule::{{Report, declare_rule}};

declare_rule! {{
    /// # What it does
    /// {BLANK}: one sentence that starts with \"Finds\".
    ///
    /// # Why is this bad?
    /// {BLANK}: which provider rejects it, and how a conversation gets into this state.
    ///
    /// # Example
    /// ```json
{shown}
    /// ```
    ///
    /// # After repair
    /// {BLANK}: the repaired example in the layout of the example; unchanged if there is no fix.
    ///
    /// # Fix safety
    /// {BLANK}: what the fix does, and why it is safe or unsafe.
    ///
    /// # References
    /// {BLANK}: the provider's error text and where it was seen.
    {code} \"{name}\" in {variant}, Error, DisplayOnly, each Message, reach Message
}}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {{
    if is_wrong(context.transcript.message(index)) {{
        report.message(context, index, \"{BLANK}: one clause\".to_owned());
    }}
}}

fn is_wrong(_message: &Message) -> bool {{
    false
}}
"
    )
}

fn case_toml(why: &str) -> String {
    format!(
        "dialect = \"anthropic_messages\"\nprovider = \"anthropic\"\npolicy = \"lossless\"\n\
         source = \"made up\"\nwhy = \"{why}\"\n"
    )
}

const INPUT: &str = "\
{
  \"model\": \"claude-sonnet-4-5\",
  \"max_tokens\": 1024,
  \"messages\": [
    {\"role\": \"user\", \"content\": \"What is the weather in Paris?\"}
  ]
}
";

/// Adds a module to the text of a group's mod.rs, in alphabetical order.
fn add_module(face: &str, module: &str) -> String {
    let line = format!("pub(crate) mod {module};");
    let is_module = |other: &&str| other.starts_with("pub(crate) mod ");
    let lines: Vec<&str> = face.lines().collect();
    let at = lines
        .iter()
        .position(|other| is_module(other) && **other > *line)
        .or_else(|| Some(lines.iter().rposition(is_module)? + 1))
        .unwrap_or(lines.len());
    insert_line(&lines, at, &line)
}

/// Adds a rule to the text of the register, after the last one of its group.
fn register_rule(register: &str, group: &str, module: &str) -> Result<String> {
    let lines: Vec<&str> = register.lines().collect();
    let own = format!("&{group}::");
    let Some(at) = lines.iter().rposition(|line| line.trim_start().starts_with(&own)) else {
        bail!("cannot register the rule: {REGISTER} has no line `&{group}::…::RULE,`");
    };
    let indent = &lines[at][..lines[at].len() - lines[at].trim_start().len()];
    Ok(insert_line(&lines, at + 1, &format!("{indent}&{group}::{module}::RULE,")))
}

fn insert_line(lines: &[&str], at: usize, line: &str) -> String {
    let mut all = lines.to_vec();
    all.insert(at, line);
    all.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        Tree::of(&[
            (REGISTER, "pub static ALL: &[&Rule] = &[\n    &order::b::RULE,\n    &pairing::c::RULE,\n];\n"),
            ("crates/seamline-rules/src/rules/pairing/mod.rs", "//! Pairs.\n\npub(crate) mod c;\n"),
            (
                "crates/seamline-rules/src/rules/pairing/c.rs",
                "    /// As PAIR007 does.\n    PAIR002 \"c\" in Pairing, Error, Safe\n",
            ),
            ("docs/rules/PAIR004.md", ""),
        ])
    }

    #[test]
    fn a_rule_is_written_declared_and_registered() {
        let files = plan(&tree(), "pairing", "late-result").unwrap();
        let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "crates/seamline-rules/src/rules/pairing/late_result.rs",
                "crates/seamline-rules/src/rules/pairing/mod.rs",
                REGISTER,
                "fixtures/rules/pairing/late-result/example/case.toml",
                "fixtures/rules/pairing/late-result/example/input.json",
                "fixtures/rules/pairing/late-result/clean/case.toml",
                "fixtures/rules/pairing/late-result/clean/input.json",
            ]
        );
        assert!(
            files[0]
                .1
                .contains("    PAIR005 \"late-result\" in Pairing, Error, DisplayOnly, each Message, reach Message\n")
        );
        assert_eq!(files[1].1, "//! Pairs.\n\npub(crate) mod c;\npub(crate) mod late_result;\n");
        assert_eq!(
            files[2].1,
            "pub static ALL: &[&Rule] = &[\n    &order::b::RULE,\n    &pairing::c::RULE,\n    \
             &pairing::late_result::RULE,\n];\n"
        );
    }

    #[test]
    fn the_documentation_has_every_heading_and_shows_the_example() {
        let text = skeleton("pairing", "late-result", "PAIR005");
        let docs: Vec<&str> = text.lines().filter_map(|line| line.trim_start().strip_prefix("/// ")).collect();
        let headings: Vec<&str> = docs.iter().copied().filter(|line| line.starts_with('#')).collect();
        assert_eq!(
            headings,
            ["# What it does", "# Why is this bad?", "# Example", "# After repair", "# Fix safety", "# References"]
        );
        assert!(docs.join("\n").contains(&format!("```json\n{INPUT}```")));
    }

    #[test]
    fn fixtures_parse() {
        assert!(case_toml("why").parse::<toml::Table>().is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(INPUT).is_ok());
    }

    #[test]
    fn a_module_is_inserted_in_alphabetical_order() {
        assert_eq!(
            add_module("//! A.\n\npub(crate) mod b;\npub(crate) mod d;\n", "c"),
            "//! A.\n\npub(crate) mod b;\npub(crate) mod c;\npub(crate) mod d;\n"
        );
        assert_eq!(add_module("//! A.\n\n", "c"), "//! A.\n\npub(crate) mod c;\n");
    }

    #[test]
    fn bad_names_unknown_groups_and_existing_rules_are_refused() {
        for (group, name) in [("pairing", "Late"), ("pairing", "a--b"), ("paring", "a"), ("pairing", "c")] {
            assert!(plan(&tree(), group, name).is_err(), "{group} {name}");
        }
    }
}
