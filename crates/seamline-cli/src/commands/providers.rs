//! `seamline providers`

use std::fmt::Write as _;

use clap::Args;
use seamline::providers::Provider;
use serde::Serialize;

use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{json, style, table};
use crate::screen;

/// List every provider, or show what one of them demands
///
/// A provider is a company or server. It may serve several dialects, and with the dialect it selects the demands. One line
/// for each dialect in which its demands are known: the name for `--provider`, the dialect, the description, the models
/// that identify it, and the number of demands. With a name, every demand of that provider with the error that it returns.
///
/// `--provider deepseek` is enough: the body tells the dialect, and `--dialect` names it. In any other dialect a provider
/// gets the demands that all servers of the dialect share, and the command says so.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Providers {
    /// The name or an alias of a provider
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The format of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline providers
  seamline providers mistral
  seamline providers deepseek              # in all its dialects
  seamline providers deepseek-responses    # in one of them
  seamline providers kimi --format json";

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    company: &'static str,
    aliases: &'static [&'static str],
    dialect: &'static str,
    about: &'static str,
    models: &'static [&'static str],
    fallback: bool,
    demands: Vec<Demand>,
}

#[derive(Serialize)]
struct Demand {
    field: &'static str,
    says: String,
    error: Option<&'static str>,
}

impl Providers {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let chosen = self.listed()?;
        let mut output = Output::new();
        match (self.format, &self.name) {
            (ListFormat::Json, _) => output.text(&json::listing("providers", &chosen)),
            (ListFormat::Text, None) => output.text(&overview(&chosen)),
            (ListFormat::Text, Some(_)) => {
                let pages: Vec<_> = chosen.iter().map(details).collect();
                output.text(&pages.join("\n"));
            }
        }
        Ok(output.finish(Exit::Clean))
    }

    fn listed(&self) -> Result<Vec<Listed>, Failure> {
        let Some(name) = &self.name else {
            return Ok(seamline::providers::ALL.iter().map(|provider| Listed::of(provider)).collect());
        };
        let provider = seamline::providers::by_name(name);
        let provider = provider.ok_or_else(|| seamline::Error::UnknownProvider(name.clone()))?;
        // The name of a company means all its dialects, and so do its aliases.
        let is_company = provider.name == provider.company || provider.company == name;
        let is_meant = |other: &&&Provider| {
            if is_company { other.company == provider.company } else { other.name == provider.name }
        };
        Ok(seamline::providers::ALL.iter().filter(is_meant).map(|provider| Listed::of(provider)).collect())
    }
}

impl Listed {
    fn of(provider: &Provider) -> Self {
        let demands = provider.constraints.demands().into_iter();
        Self {
            name: provider.name,
            company: provider.company,
            aliases: provider.aliases,
            dialect: provider.dialect,
            about: provider.about,
            models: provider.models,
            fallback: provider.fallback,
            demands: demands
                .map(|demand| Demand { field: demand.field, says: demand.says, error: demand.error })
                .collect(),
        }
    }

    /// The name and the aliases.
    fn names(&self) -> String {
        let names: Vec<_> = std::iter::once(self.name).chain(self.aliases.iter().copied()).collect();
        names.join(", ")
    }
}

fn overview(providers: &[Listed]) -> String {
    let rows: Vec<_> = providers
        .iter()
        .map(|provider| {
            let count = provider.demands.len();
            let also = match provider.aliases {
                [] => String::new(),
                aliases => format!("also {}; ", aliases.join(", ")),
            };
            let about = format!("{}; {also}{}; {count} demands", provider.about, recognised(provider));
            [provider.name.to_owned(), provider.dialect.to_owned(), about]
        })
        .collect();
    let paints = [style::HINT, style::PLAIN, style::FAINT];
    table::render(&rows, paints, screen::width())
}

/// One provider with all its demands.
fn details(provider: &Listed) -> String {
    let mut out = format!("{}\n", style::HINT.paint(&provider.names()));
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}\n", screen::wrap(provider.about, screen::width()).join("\n"));
    let _ = writeln!(out, "dialect: {}\nmodels: {}\n", provider.dialect, recognised(provider));
    let rows: Vec<_> = provider
        .demands
        .iter()
        .map(|demand| [demand.says.clone(), demand.error.unwrap_or("").to_owned()])
        .flat_map(|[says, error]| {
            let said = ["-".to_owned(), says];
            let answered = (!error.is_empty()).then(|| [String::new(), format!("error: {error}")]);
            std::iter::once(said).chain(answered)
        })
        .collect();
    out + &table::render(&rows, [style::FAINT, style::PLAIN], screen::width())
}

/// The models that identify a provider.
fn recognised(provider: &Listed) -> String {
    let mut models: Vec<_> = provider.models.iter().map(|start| format!("{start}*")).collect();
    if provider.fallback {
        let rest = if models.is_empty() {
            "any model that no other provider claims"
        } else {
            "and any model that no other provider claims"
        };
        models.push(rest.to_owned());
    }
    if models.is_empty() { "when `--provider` names it".to_owned() } else { models.join(" ") }
}
