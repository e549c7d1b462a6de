//! `seamline session recover`

use clap::Args;
use seamline::session::{Recovered, Unresolved};
use seamline::store::SessionId;
use serde::Serialize;

use super::context::{StoreContext, WriterArgs, exit_of};
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{json, session, style};
use crate::screen;

/// Close tool cycles that a crash left open
///
/// Lists every tool call of these cycles and whether it never started, finished, or has an unknown outcome. A cycle
/// with no started call is rolled back. In the others, existing results are kept, and the remaining tool calls get a
/// synthetic result that tells the model what is known; no tool runs again. A second run has no effect.
///
/// As JSON: `version`, `session`, `calls`, each with `cycle`, `call`, `tool`, `effect` and what is `known` of it
/// (`never_started`, `harmless`, `outcome_unknown` or `finished`), and `recovered`: the number of `cycles` that were closed,
/// of cycles that were rolled back (`rolled_back`), and of tool calls whose outcome is `unknown`; `null` if nothing changed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Recover {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// List the tool calls, and change nothing
    #[arg(long, conflicts_with = "take_over")]
    dry_run: bool,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    #[command(flatten)]
    writer: WriterArgs,
}

const EXAMPLES: &str = "\
Examples:
  seamline session recover s-1 --dry-run
  seamline session recover s-1";

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    session: &'a SessionId,
    calls: Vec<session::UnresolvedCall<'a>>,
    recovered: Option<Counted>,
}

#[derive(Serialize)]
struct Counted {
    cycles: usize,
    rolled_back: usize,
    unknown: usize,
}

impl Recover {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        if self.dry_run {
            let session = context.read_aloud(&self.name)?;
            let told = self.tell(context, &session.unresolved(), None);
            return Ok(if told == Exit::Clean { exit_of(session.health()) } else { told });
        }
        let (calls, recovered) = context.write(&self.name, self.writer.options(), |session| {
            let calls = session.unresolved();
            Ok((calls, context.wait(session.recover())?))
        })?;
        Ok(self.tell(context, &calls, Some(recovered)))
    }

    fn tell(&self, context: &StoreContext, calls: &[Unresolved], recovered: Option<Recovered>) -> Exit {
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => {
                let recovered = recovered.map(|Recovered { cycles, rolled_back, unknown, .. }| Counted {
                    cycles,
                    rolled_back,
                    unknown,
                });
                let calls = calls.iter().map(session::UnresolvedCall::of).collect();
                let report = Report { version: 1, session: &self.name, calls, recovered };
                output.text(&(json::text(&report) + "\n"));
            }
            ListFormat::Text => {
                output.text(&session::calls(calls, screen::width()));
                let summary = self.summary(context, calls, recovered);
                output.text(&(screen::sentence(&summary, screen::width()) + "\n"));
            }
        }
        output.finish(Exit::Clean)
    }

    fn summary(&self, context: &StoreContext, calls: &[Unresolved], recovered: Option<Recovered>) -> String {
        let name = &self.name;
        let good = style::GOOD.paint("✓");
        match recovered {
            _ if calls.is_empty() => format!("{good} {name}: no cycle is open"),
            None => format!("nothing was changed; {} closes their cycles", context.command("recover")),
            Some(Recovered { cycles, rolled_back, unknown, .. }) => {
                let cycles = screen::count(cycles, "cycle");
                let back = if rolled_back > 0 {
                    format!(", {} of them rolled back", screen::grouped(rolled_back))
                } else {
                    String::new()
                };
                let unknown = match unknown {
                    0 => String::new(),
                    count => {
                        format!("; the outcome of {} is unknown, and the model reads so", screen::count(count, "call"))
                    }
                };
                format!("{good} {name}: closed {cycles}{back}{unknown}")
            }
        }
    }
}
