//! The arguments that commands share. Each command has its own arguments in its file.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use seamline::files::Order;
use seamline::session::Follower;
use seamline::{Options, Policy};

use crate::commands::{
    assemble, check, completions, convert, doctor, explain, fix, host, incidents, man, mcp, policies, providers, proxy,
    rules, salvage, session, undo, watch,
};
use crate::failure::{Failure, quoted};
use crate::render::style;
use crate::{log, output, screen, suggest};

/// Keep the conversation between an agent and a language model whole
///
/// A provider rejects a whole request if one tool call has no result, one tool result has no call, or another message is
/// between them. It rejects every later request, too. Seamline reports what is wrong with a request body, or with the session
/// file of an agent, and which error the provider would return, and repairs it without losing content.
#[derive(Debug, Parser)]
#[command(name = "seamline", version, styles = style::HELP, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Log to standard error: off, error, warn, info, debug or trace; never the text of a conversation
    #[arg(long, value_name = "LEVEL", value_enum, global = true, env = "SEAMLINE_LOG", hide_env_values = true)]
    #[arg(default_value_t = log::Level::Off, hide_possible_values = true)]
    pub(crate) log: log::Level,
}

/// Prints what is wrong with the arguments, or the help that they ask for. A name in them must not control the terminal.
pub(crate) fn explain(error: &clap::Error) -> std::process::ExitCode {
    let is_hostile = |text: std::ffi::OsString| text.to_string_lossy().contains(screen::is_obeyed);
    let given = std::env::args_os().skip(1).chain(std::env::var_os("SEAMLINE_LOG"));
    if error.use_stderr() && given.into_iter().any(is_hostile) {
        output::say(&(screen::printable_lines(&error.render().to_string()) + "\n"));
    } else {
        // A closed terminal cannot be reported.
        let _ = error.print();
    }
    u8::try_from(error.exit_code()).map_or(std::process::ExitCode::FAILURE, std::process::ExitCode::from)
}

const EXAMPLES: &str = "\
Examples:
  seamline doctor                        # which sessions of agents are broken
  seamline doctor --fix                  # repair them
  seamline check request.json            # what is wrong with a body
  seamline fix --diff request.json       # what a repair would change
  seamline fix request.json              # repair it in place
  seamline undo request.json             # undo that repair
  seamline salvage broken.jsonl          # write everything readable of it
  seamline watch session.jsonl           # report as a live session breaks
  seamline convert b.json --to gemini    # write it for another provider
  seamline assemble response.sse         # read a streamed response
  seamline explain PAIR001               # what a code means
  seamline explain --error 'TEXT'        # what a provider's error means
  seamline proxy -- claude               # repair requests on their way
  seamline incidents                     # what the proxy found and did
  seamline session --help                # keep conversations
  seamline host --help                   # use it from any language

Exit status: 0 no findings (left), 1 findings remain, 2 the command failed";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Doctor(doctor::Doctor),
    Check(check::Check),
    Fix(fix::Fix),
    Undo(undo::Undo),
    Salvage(salvage::Salvage),
    Watch(watch::Watch),
    Convert(convert::Convert),
    Assemble(assemble::Assemble),
    Explain(explain::Explain),
    Rules(rules::Rules),
    Providers(providers::Providers),
    Policies(policies::Policies),
    Proxy(proxy::Proxy),
    Incidents(incidents::Incidents),
    Host(host::Host),
    Mcp(mcp::Mcp),
    Session(session::Session),
    Completions(completions::Completions),
    Man(man::Man),
}

/// The format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Text,
    /// One object, for programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands, for annotations in GitHub Actions
    Github,
}

/// The format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// Text for people
    Text,
    /// One object, for programs
    Json,
}

/// The order in which the history of a program is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoredOrder {
    /// The first message is the oldest one
    OldestFirst,
    /// The first message is the newest one
    NewestFirst,
}

impl From<StoredOrder> for Order {
    fn from(order: StoredOrder) -> Self {
        match order {
            StoredOrder::OldestFirst => Self::OldestFirst,
            StoredOrder::NewestFirst => Self::NewestFirst,
        }
    }
}

/// The dialect, the provider and the policy of request bodies.
#[derive(Debug, Args)]
pub(crate) struct SubjectArgs {
    /// The dialect of the bodies, or the program of a history: opal, openclaw, llxprt [default: detected]
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<String>,
    /// The order in which the history of a program is stored [default: found by its tool calls]
    #[arg(long, value_enum, value_name = "ORDER")]
    order: Option<StoredOrder>,
    /// The provider of the bodies, in any dialect (see `seamline providers`) [default: detected from the model]
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// The policy of repairs: a preset or a TOML file (see `seamline policies`)
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_POLICY)]
    policy: PathBuf,
}

impl SubjectArgs {
    /// The options. Looks names up here, so that a wrong name is reported once and not for every body.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        if let Some(name) = &self.dialect
            && !seamline::providers::dialect_names().contains(&name.as_str())
            && !seamline::files::SHAPES.iter().any(|shape| shape.name == name)
        {
            return Err(seamline::Error::UnknownDialect(name.clone()).into());
        }
        if let Some(name) = &self.provider
            && seamline::providers::by_name(name).is_none()
        {
            return Err(seamline::Error::UnknownProvider(name.clone()).into());
        }
        let (dialect, provider) = (self.dialect.clone(), self.provider.clone());
        Ok(Options {
            dialect,
            provider,
            policy: policy(&self.policy)?,
            kept: false,
            order: self.order.map(Order::from),
            ..Options::default()
        })
    }
}

impl SubjectArgs {
    /// The options as words of a command, without the default ones.
    pub(crate) fn words(&self) -> Vec<String> {
        let policy = self.policy.display().to_string();
        let order = self.order.map(|order| match order {
            StoredOrder::OldestFirst => "oldest-first".to_owned(),
            StoredOrder::NewestFirst => "newest-first".to_owned(),
        });
        let named = [
            ("--dialect", self.dialect.clone()),
            ("--order", order),
            ("--provider", self.provider.clone()),
            ("--policy", Some(policy).filter(|policy| policy != DEFAULT_POLICY)),
        ];
        let word = |(option, value): (&str, Option<String>)| Some(format!("{option} {}", quoted(&value?)));
        named.into_iter().filter_map(word).collect()
    }
}

/// The policy without the option.
const DEFAULT_POLICY: &str = "lossless";

/// Returns the policy that the caller names, else the one that the session stores.
pub(crate) fn policy_or_stored(name_or_file: Option<&Path>, session: &Follower) -> Result<Policy, Failure> {
    // An opening also falls back to the default policy if this version cannot read the stored one.
    name_or_file.map_or_else(|| Ok(session.policy().unwrap_or_default()), policy)
}

/// Returns the preset with this name, or reads the policy file.
pub(crate) fn policy(name_or_file: &Path) -> Result<Policy, Failure> {
    let preset = name_or_file.to_str().and_then(Policy::preset);
    if let Some(policy) = preset {
        return Ok(policy);
    }
    let shown = name_or_file.display();
    let text =
        std::fs::read_to_string(name_or_file).map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                let names: Vec<_> = seamline::policy::PRESETS.iter().map(|preset| preset.name).collect();
                let all = format!("the presets are {}", names.join(", "));
                Failure::new(format!("no policy is called `{shown}`, and there is no such file"))
                    .with_hint(suggest::hint(&shown.to_string(), &names, &all))
            } else {
                let failure = Failure::io("read", &error);
                Failure { message: format!("policy `{shown}`: {}", failure.message), ..failure }
            }
        })?;
    Policy::from_toml(&text).map_err(|error| {
        let line = error.line.map(|line| format!(", line {line}")).unwrap_or_default();
        Failure::new(format!("policy `{shown}`{line}: {}", error.kind))
            .with_hint("`seamline policies lossless` shows every knob and how to write the file")
    })
}
