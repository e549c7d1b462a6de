//! `seamline providers`

use clap::Args;
use serde::Serialize;

use crate::args::ListFormat;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::{json, style, table};
use crate::screen;

/// List every provider
///
/// One line per provider: its name for `--provider`, the dialect it serves, the models it is recognised by,
/// and who it is.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Providers {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline providers
  seamline providers --format json";

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    dialect: &'static str,
    about: &'static str,
    models: &'static [&'static str],
    fallback: bool,
}

impl Providers {
    pub(crate) fn run(&self) -> Exit {
        let providers: Vec<_> = seamline::providers::ALL
            .iter()
            .map(|provider| Listed {
                name: provider.name,
                dialect: provider.dialect,
                about: provider.about,
                models: provider.models,
                fallback: provider.fallback,
            })
            .collect();
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => output.text(&json::listing("providers", &providers)),
            ListFormat::Text => output.text(&text(&providers)),
        }
        output.finish(Exit::Clean)
    }
}

fn text(providers: &[Listed]) -> String {
    let rows: Vec<_> = providers
        .iter()
        .map(|provider| {
            let about = format!("{}; {}", provider.about, recognised(provider));
            [provider.name.to_owned(), provider.dialect.to_owned(), about]
        })
        .collect();
    let paints = [style::HINT, style::PLAIN, style::FAINT];
    table::render(&rows, paints, screen::width())
}

/// The models a provider is recognised by.
fn recognised(provider: &Listed) -> String {
    let mut models: Vec<_> = provider.models.iter().map(|start| format!("{start}*")).collect();
    if provider.fallback {
        let rest = if models.is_empty() { "any model nobody else claims" } else { "and any that nobody else claims" };
        models.push(rest.to_owned());
    }
    if models.is_empty() { "when `--provider` names it".to_owned() } else { models.join(" ") }
}
