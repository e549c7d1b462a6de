//! `seamline policies`

use std::fmt::Write as _;

use clap::Args;
use seamline::Policy;
use seamline::policy::{KnobKind, KnobValue, ListedKnob, PRESETS, Preset};
use serde::Serialize;

use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{json, style, table};
use crate::screen;
use crate::suggest;

/// List the presets, or show what one of them does
///
/// A policy configures repairs, sessions, streams and guards. It is a preset, or a TOML file with a preset and the knobs
/// that differ from it. A knob is in its section (`[repair]`, `[session]`, `[stream]`, `[guard]`) or at the top level;
/// `[provider.NAME]` overrides it for one provider.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Policies {
    /// A preset; shows its knobs with their allowed values, and the texts of synthetic results
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The format of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline policies
  seamline policies lossless
  seamline check request.json --policy minimal
  seamline fix request.json --policy my-policy.toml";

/// The indentation of details below a line.
const INDENT: &str = "  ";
const TEXTS_ABOUT: &str = "The texts of synthetic results, by their cause.";

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    about: &'static str,
    knobs: Vec<Knob>,
    synthetic_text: Vec<Said>,
}

#[derive(Serialize)]
struct Knob {
    name: &'static str,
    aliases: &'static [&'static str],
    section: &'static str,
    value: KnobValue,
    default: KnobValue,
    about: &'static str,
    mark: &'static str,
    allowed: String,
    values: Vec<Value>,
}

/// A word that a knob takes.
#[derive(Serialize)]
struct Value {
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
}

impl Knob {
    fn of(knob: &ListedKnob) -> Self {
        let words = match knob.kind {
            KnobKind::Word(words) => words,
            KnobKind::Flag | KnobKind::Count(_) | KnobKind::Milliseconds | KnobKind::MillisecondsOrNever => &[],
        };
        let value = |word: &seamline::policy::Word| Value { name: word.name, aliases: word.aliases, about: word.about };
        Self {
            name: knob.name,
            aliases: knob.aliases,
            section: knob.section,
            value: knob.value,
            default: knob.default,
            about: knob.about,
            mark: knob.mark,
            allowed: knob.allowed(),
            values: words.iter().map(value).collect(),
        }
    }
}

/// The text of a synthetic result.
#[derive(Serialize)]
struct Said {
    name: &'static str,
    text: String,
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
                listed.push(Listed::of(preset, &policy));
            }
        }
        if let (Some(name), true) = (&self.name, listed.is_empty()) {
            let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
            let all = format!("the presets are {}", names.join(", "));
            return Err(
                Failure::new(format!("no preset is called `{name}`")).with_hint(suggest::hint(name, &names, &all))
            );
        }
        Ok(listed)
    }
}

impl Listed {
    fn of(preset: &Preset, policy: &Policy) -> Self {
        let texts = policy.repair.synthetic_text.list().into_iter();
        Self {
            name: preset.name,
            about: preset.about,
            knobs: policy.knobs().iter().map(Knob::of).collect(),
            synthetic_text: texts.map(|(name, text, about)| Said { name, text: text.to_owned(), about }).collect(),
        }
    }
}

/// Every preset with the knobs in which it differs from the first one.
fn overview(policies: &[Listed]) -> String {
    let mut out = String::new();
    let widest = policies.iter().map(|policy| policy.name.len()).max();
    let start = widest.unwrap_or(0) + 2;
    for policy in policies {
        let room = screen::width().saturating_sub(start).max(20);
        let padding = " ".repeat(start - policy.name.len());
        let about = screen::wrap(policy.about, room).join(&format!("\n{}", " ".repeat(start)));
        let _ = writeln!(out, "{}{padding}{about}", style::HINT.paint(policy.name));
        let differing: Vec<_> = policy
            .knobs
            .iter()
            .filter(|knob| knob.value != knob.default)
            .map(|knob| format!("{}={}", knob.name, knob.value.to_string().trim_matches('"')))
            .collect();
        if !differing.is_empty() {
            for line in screen::wrap(&differing.join(" "), room) {
                let _ = writeln!(out, "{}{}", " ".repeat(start), style::FAINT.paint(&line));
            }
        }
    }
    let about = "below each preset: where it differs from `lossless`; `seamline policies NAME` shows all of it";
    out + "\n" + &screen::sentence(about, screen::width()) + "\n"
}

/// All knobs of a preset as a policy file has them, with their allowed values.
fn details(policy: &Listed) -> String {
    let title = format!("{}  {}", style::HINT.paint(policy.name), policy.about);
    let mut out = screen::sentence(&title, screen::width()) + "\n\n";
    let mut section = "";
    for knob in &policy.knobs {
        if knob.section != section {
            section = knob.section;
            let space = if out.ends_with("\n\n") { "" } else { "\n" };
            let _ = writeln!(out, "{space}{}", style::STRONG.paint(&format!("[{section}]")));
        }
        let row = [format!("{} = {}", knob.name, knob.value), described(knob)];
        out += &table::render(&[row], [style::STRONG, style::FAINT], screen::width());
        out += &values(knob);
    }
    let _ = writeln!(out, "\n{}  {}", style::STRONG.paint("[synthetic_text]"), style::FAINT.paint(TEXTS_ABOUT));
    let texts = policy.synthetic_text.iter();
    let rows: Vec<_> = texts.map(|text| [text.name, "=", &text.text].map(str::to_owned)).collect();
    out += &indented(&table::render(&rows, [style::STRONG, style::FAINT, style::HINT], room()));
    out.push('\n');
    out + &how_to_write(policy)
}

/// The description of a knob, its mark, and its default if the preset differs.
fn described(knob: &Knob) -> String {
    let mark = if knob.mark.is_empty() { String::new() } else { format!(" [{}]", knob.mark) };
    let default = if knob.value == knob.default { String::new() } else { format!(" Default: {}.", knob.default) };
    format!("{}{default}{mark}", knob.about)
}

/// The allowed values of a knob, with a mark at the current one.
fn values(knob: &Knob) -> String {
    if knob.values.is_empty() {
        return indented(&style::FAINT.paint(&knob.allowed));
    }
    let rows: Vec<_> = knob
        .values
        .iter()
        .map(|value| {
            let mark = if knob.value.word() == Some(value.name) { "▸" } else { "" };
            [mark, value.name, value.about].map(str::to_owned)
        })
        .collect();
    indented(&table::render(&rows, [style::HINT, style::PLAIN, style::FAINT], room()))
}

fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |out, line| out + INDENT + line + "\n")
}

fn room() -> usize {
    screen::width().saturating_sub(INDENT.len())
}

fn how_to_write(policy: &Listed) -> String {
    let sample = format!(
        "  preset = \"{}\"\n\n  [repair]\n  safety = \"unsafe\"  # fixes that remove something are unsafe\n  \
         orphan_result = \"remove\"\n\n  [synthetic_text]\n  missing = \"[no result was recorded]\"\n\n  \
         [provider.groq.guard]\n  retries_max = 5\n",
        policy.name
    );
    format!(
        "to change it, write a TOML file with the preset and the knobs that differ:\n\n{}\n\
         and use it with `--policy my-policy.toml`\n",
        style::CODE.paint(&sample)
    )
}
