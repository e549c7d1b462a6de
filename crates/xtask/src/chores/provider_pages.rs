//! `docs/providers/`: the demands of each provider with their sources, and the facts that are not checked.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::codegen::{NOTICE, Pages, cell};
use crate::book::{BOOK, Book};
use crate::sources::{self, Sources};
use crate::tree::Tree;

/// The folder of the pages.
pub(super) const FOLDER: &str = "docs/providers";

/// The output of `seamline providers --format json`.
#[derive(Deserialize)]
struct Catalogue {
    version: u64,
    providers: Vec<Provider>,
}

#[derive(Deserialize)]
struct Provider {
    name: String,
    company: String,
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

/// A page for every provider, and an index.
pub(super) fn pages(printed: &str, tree: &Tree) -> Result<Pages> {
    let catalogue: Catalogue = serde_json::from_str(printed)
        .context("`seamline providers --format json` does not print {\"version\":1,\"providers\":[…]}")?;
    if catalogue.version != 1 || catalogue.providers.is_empty() {
        bail!("`seamline providers --format json` lists no provider, or does not have version 1");
    }
    let book = Book::read(tree.text(BOOK).with_context(|| format!("{BOOK} is missing"))?)?;
    let mut pages = Pages::new();
    for provider in &catalogue.providers {
        let chain = sources::of_provider(tree, &provider.name.replace('-', "_"));
        let kin: Vec<_> = catalogue.providers.iter().filter(|other| other.company == provider.company).collect();
        pages.insert(format!("{FOLDER}/{}.md", provider.name), page(provider, &kin, &book, &chain));
    }
    pages.insert(format!("{FOLDER}/README.md"), index(&catalogue.providers, &book));
    Ok(pages)
}

fn page(provider: &Provider, kin: &[&Provider], book: &Book, chain: &[Sources]) -> String {
    let mut page = format!("{NOTICE}\n\n# `{}`\n\n{}.\n\n", provider.name, capitalise(&provider.about));
    let _ = writeln!(page, "- Dialect: `{}`", provider.dialect);
    let others = kin.iter().filter(|other| other.name != provider.name);
    let others: Vec<_> = others.map(|other| format!("[`{0}`]({0}.md) (`{1}`)", other.name, other.dialect)).collect();
    if !others.is_empty() {
        let _ = writeln!(page, "- Other dialects and models of `{}`: {}", provider.company, others.join(", "));
    }
    if !provider.aliases.is_empty() {
        let _ = writeln!(page, "- Also called: `{}`", provider.aliases.join("`, `"));
    }
    let _ = writeln!(page, "- Recognised by: {}", recognition(provider));
    page += "\n## Demands\n\nAn error text with the mark of another provider is that provider's text; this one may use other \
             words.\n\n| Demand | Error | Source |\n|---|---|---|\n";
    for demand in &provider.demands {
        let error = demand.error.as_deref().map(|error| format!("`` {} ``", cell(error))).unwrap_or_default();
        let _ = writeln!(
            page,
            "| {} | {error} | {} |",
            cell(&demand.says),
            cell(sources::comment_of(chain, &demand.field))
        );
    }
    let families = book.families.iter().filter(|(_, family)| family.providers.contains(&provider.name));
    let rows: String = families.map(|(prefix, _)| unchecked(book, prefix)).collect();
    if !rows.is_empty() {
        let _ = write!(page, "\n## Known and not checked\n\n| Mark | Reason |\n|---|---|\n{rows}");
    }
    page += "\n[References](../design/references.md) explains the marks.\n";
    page
}

/// One row per reason, with all its marks.
fn unchecked(book: &Book, prefix: &str) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (mark, reason) in book.unchecked(prefix) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, marks)) => marks.push(mark),
            None => reasons.push((reason, vec![mark])),
        }
    }
    let row = |(reason, marks): (&str, Vec<String>)| format!("| {} | {} |\n", marks.join(", "), cell(reason));
    let partly = book.partly(prefix).map(|(mark, reason)| format!("| {mark}, in part | {} |\n", cell(reason)));
    reasons.into_iter().map(row).chain(partly).collect::<Vec<_>>().concat()
}

fn index(providers: &[Provider], book: &Book) -> String {
    let mut page = format!(
        "{NOTICE}\n\n# Providers\n\nThe providers of each dialect and their demands. `seamline providers NAME` prints the \
         same.\n\n| Provider | Dialect | Demands | About |\n|---|---|---|---|\n"
    );
    for Provider { name, dialect, about, demands, .. } in providers {
        let count = demands.len();
        let _ = writeln!(page, "| [`{name}`]({name}.md) | `{dialect}` | {count} | {} |", cell(about));
    }
    page += &pairs(providers);
    page += "\n## The rule book\n\nEvery known demand of a provider has a mark. A constraint or a rule names the mark, or \
             [the list](data/rules.toml) gives the reason why the demand is not checked, or not completely.\n\n| Marks | About | Known | Not checked | In part |\n|---|---|---|---|---|\n";
    for (prefix, family) in &book.families {
        let unchecked = book.unchecked(prefix).count();
        let partly = book.partly(prefix).count();
        let _ = writeln!(page, "| {prefix} | {} | {} | {unchecked} | {partly} |", family.name, family.count);
    }
    let shared = book.families.iter().filter(|(_, family)| family.providers.is_empty());
    let rows: String = shared.map(|(prefix, _)| unchecked(book, prefix)).collect();
    let _ = write!(page, "\nMarks that belong to no single provider:\n\n| Mark | Reason |\n|---|---|\n{rows}");
    page
}

/// The table of companies and the dialects in which their demands are known.
fn pairs(providers: &[Provider]) -> String {
    let mut page = "\n## Providers and dialects\n\n`--provider` names a company or server, and the dialect of the body selects \
                    its demands. In a dialect that is not listed here, a provider gets the demands that all servers of the \
                    dialect share, and the command says so.\n\n| Provider | Demands known in |\n|---|---|\n"
        .to_owned();
    // The providers of a company need not follow each other.
    let mut listed = BTreeSet::new();
    for company in providers.iter().map(|provider| provider.company.as_str()).filter(|company| listed.insert(*company))
    {
        let kin = providers.iter().filter(|provider| provider.company == company);
        let cells: Vec<_> = kin.map(|one| format!("`{}` ([`{1}`]({1}.md))", one.dialect, one.name)).collect();
        let _ = writeln!(page, "| `{company}` | {} |", cells.join(", "));
    }
    page
}

fn recognition(provider: &Provider) -> String {
    let mut models: Vec<String> = provider.models.iter().map(|start| format!("`{start}…`")).collect();
    if provider.fallback {
        models.push("any model that no other provider claims".to_owned());
    }
    if models.is_empty() { "`--provider` only".to_owned() } else { models.join(", ") }
}

fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
