//! `cargo xtask codegen`: writes the pages that come from the command `seamline`.
//!
//! `docs/cli.md` holds the help of every command, `docs/agents.md` the agents whose sessions are read, `docs/knobs.md` the
//! knobs of policies, `docs/rules/` the documentation of rules, `docs/providers/` the demands of providers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{agent_page, knob_page, provider_pages};
use crate::tree::Tree;
use crate::workspace::{self, Workspace};

/// The action for pages that differ from the command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write the pages.
    Write,
    /// Fail and list the pages.
    Check,
}

const RULES_FOLDER: &str = "docs/rules";
pub(super) const NOTICE: &str = "<!-- Written by `cargo xtask codegen`; change the source, not this page. -->";
/// `seamline session append` is two levels deep; a deeper level is a mistake in reading the help.
const DEPTH_MAX: usize = 3;

/// Pages by their path from the root.
pub(super) type Pages = BTreeMap<String, String>;

/// Writes or compares all generated pages.
pub(crate) fn run(workspace: &Workspace, mode: Mode) -> Result<()> {
    workspace::build_command(workspace)?;
    let mut pages = rule_pages(&rules(workspace)?)?;
    pages.insert("docs/cli.md".to_owned(), cli_page(workspace)?);
    let root = workspace.root();
    let providers = seamline(workspace, &["providers", "--format", "json"])?;
    pages.extend(provider_pages::pages(&providers, &Tree::read(root)?)?);
    let policies = seamline(workspace, &["policies", "--format", "json"])?;
    pages.insert(knob_page::PATH.to_owned(), knob_page::page(&policies)?);
    let agents = seamline(workspace, &["doctor", "--list", "--format", "json"])?;
    pages.insert(agent_page::PATH.to_owned(), agent_page::page(&agents)?);
    let stale = differing_pages(root, &pages)?;
    let left = removed_pages(root, &pages)?;
    match mode {
        Mode::Write => {
            for path in &stale {
                write(root, path, &pages[path.as_str()])?;
                println!("wrote {path}");
            }
            for path in &left {
                std::fs::remove_file(root.join(path))?;
                println!("removed {path}");
            }
            println!("{} pages", pages.len());
            Ok(())
        }
        Mode::Check if stale.is_empty() && left.is_empty() => {
            println!("{} pages, all up to date", pages.len());
            Ok(())
        }
        Mode::Check => {
            let paths: Vec<&str> = stale.iter().chain(&left).map(String::as_str).collect();
            bail!("these pages are not up to date:\n  {}\nhint: cargo xtask codegen", paths.join("\n  "))
        }
    }
}

/// The output of `seamline rules --format json`.
#[derive(Deserialize)]
struct Catalogue {
    version: u64,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    code: String,
    name: String,
    group: String,
    severity: String,
    safety: String,
    summary: String,
    documentation: String,
}

fn rules(workspace: &Workspace) -> Result<Vec<Rule>> {
    let printed = seamline(workspace, &["rules", "--format", "json"])?;
    let catalogue: Catalogue = serde_json::from_str(&printed)
        .context("`seamline rules --format json` does not print {\"version\":1,\"rules\":[…]}")?;
    if catalogue.version != 1 {
        bail!("`seamline rules --format json` has version {}, not 1", catalogue.version);
    }
    if catalogue.rules.is_empty() {
        bail!("`seamline rules --format json` lists no rule");
    }
    Ok(catalogue.rules)
}

fn rule_pages(rules: &[Rule]) -> Result<Pages> {
    let mut pages = Pages::new();
    let mut groups: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
    for rule in rules {
        let path = format!("{RULES_FOLDER}/{}.md", rule.code);
        if pages.insert(path, rule_page(rule)).is_some() {
            bail!("two rules have the code {}", rule.code);
        }
        groups.entry(&rule.group).or_default().push(rule);
    }
    let mut index = format!("{NOTICE}\n\n# Rules\n");
    for (group, mut rules) in groups {
        rules.sort_by(|a, b| a.code.cmp(&b.code));
        let _ =
            write!(index, "\n## {group}\n\n| Code | Name | Severity | Fix | What it finds |\n|---|---|---|---|---|\n");
        for rule in rules {
            let _ = writeln!(
                index,
                "| [{code}]({code}.md) | `{}` | {} | {} | {} |",
                rule.name,
                rule.severity,
                rule.safety,
                cell(&rule.summary),
                code = rule.code,
            );
        }
    }
    pages.insert(format!("{RULES_FOLDER}/README.md"), index);
    Ok(pages)
}

fn rule_page(rule: &Rule) -> String {
    format!(
        "{NOTICE}\n\n# {} `{}`\n\n| Group | Severity | Fix |\n|---|---|---|\n| {} | {} | {} |\n\n{}\n",
        rule.code,
        rule.name,
        rule.group,
        rule.severity,
        rule.safety,
        rule.documentation.trim()
    )
}

/// The text as the cell of a table.
pub(super) fn cell(text: &str) -> String {
    let joined: Vec<&str> = text.split_whitespace().collect();
    joined.join(" ").replace('|', "\\|")
}

fn cli_page(workspace: &Workspace) -> Result<String> {
    let mut page = format!("{NOTICE}\n\n# The command line\n");
    let mut waiting = vec![Vec::new()];
    while let Some(command) = waiting.pop() {
        let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
        args.push("--help");
        let help = seamline(workspace, &args)?;
        let _ = write!(page, "{}", help_section(&command, &help));
        if command.len() == DEPTH_MAX {
            continue;
        }
        // Last in, first out: reversed, the page has the order of the help.
        for name in subcommands(&help).into_iter().rev() {
            let mut longer = command.clone();
            longer.push(name);
            waiting.push(longer);
        }
    }
    if !page.contains("\n## `seamline rules`") {
        bail!("`seamline --help` lists no commands under `Commands:`");
    }
    Ok(page)
}

fn help_section(command: &[String], help: &str) -> String {
    let mut heading = "seamline".to_owned();
    for name in command {
        let _ = write!(heading, " {name}");
    }
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let help = lines.join("\n");
    format!("\n## `{heading}`\n\n```text\n{}\n```\n", help.trim())
}

/// The names under `Commands:`, without `help`.
fn subcommands(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| line.trim_end() != "Commands:")
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        // A long description continues on a line with more indentation.
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split([' ', ',']).next())
        .filter(|name| !name.is_empty() && *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Runs the command from this tree and returns its output.
fn seamline(workspace: &Workspace, args: &[&str]) -> Result<String> {
    let mut command = Command::new(workspace::built_command(workspace));
    command.args(args).current_dir(workspace.root());
    // The width and colours of this terminal must not reach the pages.
    command.env("COLUMNS", "100").env("NO_COLOR", "1");
    let printed = workspace::output(&mut command)?;
    if printed.trim().is_empty() {
        bail!("`seamline {}` prints nothing", args.join(" "));
    }
    Ok(printed)
}

fn differing_pages(root: &Path, pages: &Pages) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for (path, page) in pages {
        let full = root.join(path);
        let is_same = full.is_file() && std::fs::read_to_string(&full)? == *page;
        if !is_same {
            paths.push(path.clone());
        }
    }
    Ok(paths)
}

/// Pages of rules and providers that no longer exist.
fn removed_pages(root: &Path, pages: &Pages) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for folder in [RULES_FOLDER, provider_pages::FOLDER] {
        if !root.join(folder).is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_file() && !pages.contains_key(&path) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}

fn write(root: &Path, path: &str, page: &str) -> Result<()> {
    let full = root.join(path);
    if let Some(folder) = full.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&full, page).with_context(|| format!("could not write {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(code: &str) -> Rule {
        Rule {
            code: code.to_owned(),
            name: "orphan-result".to_owned(),
            group: "pairing".to_owned(),
            severity: "error".to_owned(),
            safety: "safe".to_owned(),
            summary: "a result | whose call\nis absent".to_owned(),
            documentation: "## What it does\n\nText.\n".to_owned(),
        }
    }

    #[test]
    fn a_rule_becomes_a_page_and_a_row() {
        let pages = rule_pages(&[rule("PAIR002"), rule("PAIR001")]).unwrap();
        let paths: Vec<&str> = pages.keys().map(String::as_str).collect();
        assert_eq!(paths, ["docs/rules/PAIR001.md", "docs/rules/PAIR002.md", "docs/rules/README.md"]);
        assert_eq!(
            pages["docs/rules/PAIR001.md"],
            format!(
                "{NOTICE}\n\n# PAIR001 `orphan-result`\n\n| Group | Severity | Fix |\n|---|---|---|\n\
                 | pairing | error | safe |\n\n## What it does\n\nText.\n"
            )
        );
        let index = &pages["docs/rules/README.md"];
        let row = "| [PAIR001](PAIR001.md) | `orphan-result` | error | safe | a result \\| whose call is absent |\n";
        assert!(index.contains(row), "{index}");
        assert!(index.find("PAIR001") < index.find("PAIR002"));
    }

    #[test]
    fn two_rules_with_one_code_are_refused() {
        assert!(rule_pages(&[rule("PAIR001"), rule("PAIR001")]).is_err());
    }

    #[test]
    fn commands_are_read_from_the_help() {
        let help = "Usage: seamline <COMMAND>\n\nCommands:\n  check    Say what is wrong\n           \
            in detail\n  fix, f   Put it right\n  help     Print this\n\nOptions:\n  -h  Help\n";
        assert_eq!(subcommands(help), ["check", "fix"]);
        assert_eq!(subcommands("Usage: seamline check\n"), Vec::<String>::new());
    }

    #[test]
    fn a_section_has_the_full_command_and_no_trailing_blanks() {
        let command = ["session".to_owned(), "append".to_owned()];
        assert_eq!(
            help_section(&command, "Usage:  \n\n  -h\n\n"),
            "\n## `seamline session append`\n\n```text\nUsage:\n\n  -h\n```\n"
        );
    }
}
