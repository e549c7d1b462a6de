//! `seamline policies`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use seamline::Policy;
use seamline::policy::PRESETS;
use serde::Serialize;

use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{json, style, table};
use crate::screen;

/// List the presets, or show what one of them does
///
/// A policy says how each kind of damage is put right and up to which safety. It is a preset, or a TOML file
/// with a preset and the knobs that differ from it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Policies {
    /// A preset; its knobs are shown with what each is about
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline policies
  seamline policies lossless
  seamline check request.json --policy minimal
  seamline fix request.json --policy my-policy.toml";

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    about: &'static str,
    knobs: Vec<Knob>,
}

#[derive(Serialize)]
struct Knob {
    name: &'static str,
    value: &'static str,
    about: &'static str,
}

impl Policies {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let chosen = self.listed()?;
        let mut output = Output::new();
        match (self.format, &self.name) {
            (ListFormat::Json, _) => output.text(&json::listing("policies", &chosen)),
            (ListFormat::Text, None) => output.text(&overview(&chosen)),
            (ListFormat::Text, Some(_)) => {
                for policy in &chosen {
                    output.text(&details(policy));
                }
            }
        }
        Ok(output.finish(Exit::Clean))
    }

    fn listed(&self) -> Result<Vec<Listed>, Failure> {
        let mut listed = Vec::new();
        for preset in PRESETS {
            let is_wanted = self.name.as_ref().is_none_or(|name| name == preset.name);
            if let Some(policy) = Policy::preset(preset.name).filter(|_| is_wanted) {
                let knobs = policy.knobs();
                listed.push(Listed {
                    name: preset.name,
                    about: preset.about,
                    knobs: knobs.into_iter().map(|(name, value, about)| Knob { name, value, about }).collect(),
                });
            }
        }
        if let (Some(name), true) = (&self.name, listed.is_empty()) {
            let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
            return Err(Failure::new(format!("no preset is called `{name}`"))
                .with_hint(format!("the presets are {}", names.join(", "))));
        }
        Ok(listed)
    }
}

/// Every preset with the knobs in which it differs from the first one.
fn overview(policies: &[Listed]) -> String {
    let default: BTreeMap<_, _> =
        policies.iter().take(1).flat_map(|policy| &policy.knobs).map(|knob| (knob.name, knob.value)).collect();
    let mut out = String::new();
    let widest = policies.iter().map(|policy| policy.name.len()).max();
    let start = widest.unwrap_or(0) + 2;
    for policy in policies {
        let padding = " ".repeat(start - policy.name.len());
        let _ = writeln!(out, "{}{padding}{}", style::HINT.paint(policy.name), policy.about);
        let differing: Vec<_> = policy
            .knobs
            .iter()
            .filter(|knob| default.get(knob.name) != Some(&knob.value))
            .map(|knob| format!("{}={}", knob.name, knob.value))
            .collect();
        if !differing.is_empty() {
            let room = screen::width().saturating_sub(start).max(20);
            for line in screen::wrap(&differing.join(" "), room) {
                let _ = writeln!(out, "{}{}", " ".repeat(start), style::FAINT.paint(&line));
            }
        }
    }
    out + "\nbelow each preset: where it differs from `lossless`; `seamline policies NAME` shows all of it\n"
}

fn details(policy: &Listed) -> String {
    let rows: Vec<_> = policy
        .knobs
        .iter()
        .map(|knob| {
            let value = format!("\"{}\"", knob.value);
            [knob.name.to_owned(), "=".to_owned(), value, knob.about.to_owned()]
        })
        .collect();
    let paints = [style::STRONG, style::FAINT, style::HINT, style::FAINT];
    format!(
        "{}  {}\n\n{}\n{}",
        style::HINT.paint(policy.name),
        policy.about,
        table::render(&rows, paints, screen::width()),
        how_to_write(policy)
    )
}

fn how_to_write(policy: &Listed) -> String {
    let sample = format!(
        "  preset = \"{}\"\n  unanswered_call = \"remove_call\"\n\n  [synthetic_text]\n  missing = \"[no result was recorded]\"\n",
        policy.name
    );
    format!(
        "to change some of it, write a TOML file with the preset and the knobs that differ:\n\n{}\n\
         and use it with `--policy my-policy.toml`; a value that does not exist is answered with those that do\n",
        style::CODE.paint(&sample)
    )
}
