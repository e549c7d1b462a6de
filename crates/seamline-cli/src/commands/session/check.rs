//! `seamline session check`

use std::path::PathBuf;

use clap::Args;
use seamline::Options;
use seamline::check::Checked;
use seamline::session::{Follower, PersistRepairs};
use seamline::store::SessionId;

use super::context::{StoreContext, exit_of};
use super::repair::{extent_of, storing};
use crate::args::{self, ListFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::render::findings::Extent;
use crate::render::{Counts, Examined, Places, json, style, text};
use crate::screen;

/// Report what is wrong with the conversation of a session
///
/// Checks the stored messages as `seamline check` checks a body. It changes nothing and does not disturb the process
/// that writes the session.
///
/// As JSON: `version` and `documents` as in `seamline check`, with one document: `path` (the name of the session),
/// `dialect`, `provider`, the number of `messages` and `calls`, and `findings`.
///
/// Exit status: 0 no findings, 1 findings, or the session is degraded, 2 the session could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The policy of repairs: a preset or a TOML file (see `seamline policies`) [default: the stored one]
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<PathBuf>,
    /// The format of the findings
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// Show every finding, not only the first 50
    #[arg(long)]
    all: bool,
}

const EXAMPLES: &str = "\
Examples:
  seamline session check s-1
  seamline session check s-1 --format json";

impl Check {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let session = context.read_aloud(&self.name)?;
        let policy = args::policy_or_stored(self.policy.as_deref(), &session)?;
        context.warn_of_calls(&session.unresolved());
        let failed = |error| context.failure(&error);
        let options = Options { kept: true, ..session.options(policy).map_err(failed)? };
        let body = session.body("{}").map_err(failed)?;
        let checked = seamline::check(&body, &options)?;
        let is_wrong = Counts::of(&checked.findings).is_wrong();
        let mut output = Output::new();
        let label = self.name.as_str();
        output::say_note(label, checked.note.as_deref());
        match self.format {
            ListFormat::Json => {
                output.text(json::OPENING);
                output.text(&json::checked(label, &checked));
                output.text(json::CLOSING);
            }
            ListFormat::Text if checked.findings.is_empty() => output.text(&text::clean(label, &checked)),
            ListFormat::Text => {
                let examined = Examined {
                    label,
                    body: &body,
                    options: &options,
                    findings: &checked.findings,
                    places: Places::Joined,
                };
                output.text(&text::document(&examined, if self.all { Extent::All } else { Extent::First }));
                output.text(&summary(context, &session, &checked, (&body, &options)));
            }
        }
        Ok(output.finish(if is_wrong { Exit::Findings } else { exit_of(session.health()) }))
    }
}

/// The summary: how many findings there are, and which command repairs them in the store or in each request.
fn summary(
    context: &StoreContext,
    session: &Follower,
    checked: &Checked,
    (body, options): (&[u8], &Options),
) -> String {
    let counts = Counts::of(&checked.findings);
    if !counts.is_wrong() {
        return format!("{} {}\n", style::GOOD.paint("✓"), text::clean_verdict(counts));
    }
    let count = counts.errors + counts.warnings;
    // A session may end with tool calls whose results are still to come; a provider would reject them.
    let left_in = |body: &[u8]| {
        seamline::check(body, options).map_or(usize::MAX, |checked| {
            let counts = Counts::of(&checked.findings);
            counts.errors + counts.warnings
        })
    };
    let left_after = |extent: PersistRepairs| {
        let preview = session.preview_repair(storing(options.policy.clone(), extent));
        preview.map_or(count, |preview| left_in(&preview.after))
    };
    let left_in_requests = seamline::repair(body, options).map_or(usize::MAX, |repaired| left_in(&repaired.body));
    let (repair, all) = (context.command("repair"), context.command("repair --all"));
    let remedy = match (left_after(extent_of(options)), left_after(PersistRepairs::All), left_in_requests) {
        (0, ..) => format!("{repair} fixes it"),
        (rest, 0, _) if rest < count => {
            format!("{repair} fixes some of it, and each request the rest; {all} stores all fixes")
        }
        (_, 0, _) => format!("each request fixes it; {all} stores the fix"),
        (rest, _, 0) if rest < count => format!("{repair} fixes some of it, and each request the rest"),
        (_, _, 0) => "each request fixes it".to_owned(),
        _ if checked.messages == 0 => format!("{} adds the first message", context.command("append")),
        _ if is_helped_by_unsafe(checked, options) => {
            format!("only {} fixes some of it, as `fix:` says above", context.command("repair --unsafe"))
        }
        _ => "this policy cannot fix all of it".to_owned(),
    };
    let line = format!("{} {}; {remedy}", style::ERROR.paint("✗"), style::STRONG.paint(&text::counted(counts)));
    screen::sentence(&line, screen::width()) + "\n"
}

/// Whether unsafe fixes would repair a finding.
fn is_helped_by_unsafe(checked: &Checked, options: &Options) -> bool {
    checked.findings.iter().any(|finding| text::needs_unsafe(&options.policy, finding))
}
