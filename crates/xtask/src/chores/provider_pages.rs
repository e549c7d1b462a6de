//! `docs/providers/`: what each provider demands, with its source, and what is not checked.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::codegen::{NOTICE, Pages, cell};
use crate::book::{BOOK, Book, DIALECTS};
use crate::tree::Tree;

/// Where the pages stand.
pub(super) const FOLDER: &str = "docs/providers";

/// What `seamline providers --format json` prints.
#[derive(Deserialize)]
struct Catalogue {
    version: u64,
    providers: Vec<Provider>,
}

#[derive(Deserialize)]
struct Provider {
    name: String,
    aliases: Vec<String>,
    dialect: String,
    about: String,
    models: Vec<String>,
    fallback: bool,
    demands: Vec<Demand>,
}

#[derive(Deserialize)]
struct Demand {
    field: String,
    says: String,
    error: Option<String>,
}

/// The page of every provider, and one that lists them.
pub(super) fn pages(printed: &str, tree: &Tree) -> Result<Pages> {
    let catalogue: Catalogue = serde_json::from_str(printed)
        .context("`seamline providers --format json` does not print {\"version\":1,\"providers\":[…]}")?;
    if catalogue.version != 1 || catalogue.providers.is_empty() {
        bail!("`seamline providers --format json` lists no provider, or has another version than 1");
    }
    let book = Book::read(tree.text(BOOK).with_context(|| format!("there is no {BOOK}"))?)?;
    let mut pages = Pages::new();
    for provider in &catalogue.providers {
        let own = sources(tree, &format!("{DIALECTS}/providers/{}.rs", provider.name.replace('-', "_")));
        let shared = sources(tree, &format!("{DIALECTS}/{}/constraints.rs", provider.dialect));
        pages.insert(format!("{FOLDER}/{}.md", provider.name), page(provider, &book, &[own, shared]));
    }
    pages.insert(format!("{FOLDER}/README.md"), index(&catalogue.providers, &book));
    Ok(pages)
}

/// What stands beside each field of a file of constraints.
type Sources = BTreeMap<String, String>;

/// The comment before each field, by the field's name; parts of a field after a dot. A
/// field without a comment has that of the field before it.
fn sources(tree: &Tree, path: &str) -> Sources {
    let mut sources = Sources::new();
    let mut comment = String::new();
    let mut fresh = false;
    // The fields around a line, each with how far it is set in.
    let mut around: Vec<(usize, String)> = Vec::new();
    for line in tree.text(path).unwrap_or_default().lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if let Some(said) = text.strip_prefix("// ") {
            comment = if fresh { format!("{comment} {said}") } else { said.to_owned() };
            fresh = true;
            continue;
        }
        let name = text.split_once(": ").map(|(name, _)| name).filter(|name| is_field(name));
        if let Some(name) = name {
            around.retain(|(outer, _)| *outer < indent);
            around.push((indent, name.to_owned()));
            let path: Vec<&str> =
                around.iter().map(|(_, name)| name.as_str()).filter(|name| *name != "constraints").collect();
            if !comment.is_empty() {
                sources.insert(path.join("."), comment.clone());
            }
            fresh = false;
        }
    }
    sources
}

fn is_field(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// What stands beside a demand: in the provider's own file, else in its dialect's.
fn source<'s>(demand: &Demand, files: &'s [Sources; 2]) -> &'s str {
    let outer = demand.field.split('.').next().unwrap_or_default();
    let of = |file: &'s Sources| file.get(&demand.field).or_else(|| file.get(outer));
    files.iter().find_map(of).map_or("", String::as_str)
}

fn page(provider: &Provider, book: &Book, files: &[Sources; 2]) -> String {
    let mut page = format!("{NOTICE}\n\n# `{}`\n\n{}.\n\n", provider.name, capitalised(&provider.about));
    let _ = writeln!(page, "- Dialect: `{}`", provider.dialect);
    if !provider.aliases.is_empty() {
        let _ = writeln!(page, "- Also called: `{}`", provider.aliases.join("`, `"));
    }
    let _ = writeln!(page, "- Recognised by: {}", recognised(provider));
    page += "\n## What it demands\n\nA text that is known from somebody else's mark is theirs; this provider may put it in other \
             words.\n\n| Demand | What it answers otherwise | Known from |\n|---|---|---|\n";
    for demand in &provider.demands {
        let error = demand.error.as_deref().map(|error| format!("`` {} ``", cell(error))).unwrap_or_default();
        let _ = writeln!(page, "| {} | {error} | {} |", cell(&demand.says), cell(source(demand, files)));
    }
    let families = book.families.iter().filter(|(_, family)| family.providers.contains(&provider.name));
    let rows: String = families.map(|(prefix, _)| unchecked(book, prefix)).collect();
    if !rows.is_empty() {
        let _ = write!(page, "\n## What is known and not checked\n\n| Mark | Why not |\n|---|---|\n{rows}");
    }
    page += "\nWhat the marks mean is in [references](../design/references.md).\n";
    page
}

/// A row for each reason, with all marks that have it.
fn unchecked(book: &Book, prefix: &str) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (mark, reason) in book.unchecked(prefix) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, marks)) => marks.push(mark),
            None => reasons.push((reason, vec![mark])),
        }
    }
    let row = |(reason, marks): (&str, Vec<String>)| format!("| {} | {} |\n", marks.join(", "), cell(reason));
    reasons.into_iter().map(row).collect::<Vec<_>>().concat()
}

fn index(providers: &[Provider], book: &Book) -> String {
    let mut page = format!(
        "{NOTICE}\n\n# Providers\n\nWho serves a dialect, and what each demands. `seamline providers NAME` shows the \
         same.\n\n| Provider | Dialect | Demands | About |\n|---|---|---|---|\n"
    );
    for Provider { name, dialect, about, demands, .. } in providers {
        let count = demands.len();
        let _ = writeln!(page, "| [`{name}`]({name}.md) | `{dialect}` | {count} | {} |", cell(about));
    }
    page += "\n## The rule book\n\nEverything that is known of what providers demand has a mark. A mark is named by a \
             constraint or a rule, or is in [the list](data/rules.toml) with the reason why it is not checked.\n\n\
             | Marks | About | Known | Not checked |\n|---|---|---|---|\n";
    for (prefix, family) in &book.families {
        let unchecked = book.unchecked(prefix).count();
        let _ = writeln!(page, "| {prefix} | {} | {} | {unchecked} |", family.name, family.count);
    }
    let everybody = book.families.iter().filter(|(_, family)| family.providers.is_empty());
    let rows: String = everybody.map(|(prefix, _)| unchecked(book, prefix)).collect();
    let _ =
        write!(page, "\nOf those about no provider in particular:\n\n| Mark | Why not checked |\n|---|---|\n{rows}");
    page
}

fn recognised(provider: &Provider) -> String {
    let mut models: Vec<String> = provider.models.iter().map(|start| format!("`{start}…`")).collect();
    if provider.fallback {
        models.push("any model that nobody else claims".to_owned());
    }
    if models.is_empty() { "its name, with `--provider`".to_owned() } else { models.join(", ") }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_has_the_comment_of_its_field() {
        let text = "    constraints: Constraints {\n        // OAC-5, observed\n        // twice.\n        call_id: IdDemand {\n            \
            length_max: 4,\n        },\n        // OAC-2.\n        unanswered: ErrorText(\"a: b\"),\n        orphan: X,\n";
        let tree = Tree::of(&[("p.rs", text)]);
        let sources = sources(&tree, "p.rs");
        let expected = [
            ("call_id", "OAC-5, observed twice."),
            ("call_id.length_max", "OAC-5, observed twice."),
            ("orphan", "OAC-2."),
            ("unanswered", "OAC-2."),
        ];
        assert_eq!(sources, expected.map(|(field, said)| (field.to_owned(), said.to_owned())).into());
    }
}
