//! `seamline doctor`

mod agents;
mod examine;
mod search;
mod stored;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use examine::Examination;
use seamline::Options;
use seamline::files::{ALL, Program};
use search::{Candidate, Search};

use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::undo::Force;
use crate::output::{self, Output};
use crate::render::doctor::{self, Checkup, Examined, Session, View};
use crate::render::{style, table};
use crate::{many, screen, suggest, time};

/// Find the broken sessions of every agent on this machine
///
/// Looks for the session files of agents in their default places and checks each one: the file itself, and the conversation
/// that the agent would send. For a broken session it prints what was going on (the last request, the open tool calls), what
/// is wrong, what a repair would do, what would be lost, and the command that continues the session in its agent.
///
/// It changes nothing, unless you ask for it with `--fix`. Then it repairs the broken sessions as `seamline fix` does, and
/// `seamline undo` undoes each repair. A file that an agent has open, or that changed within the last 10 seconds, is left
/// alone without `--force`.
///
/// A session that ends in an open tool call and changed within the last 10 minutes is not called broken: its agent may wait
/// for the tool. `--fix --force` repairs it, too.
///
/// Exit status: 0 no session is broken (any more), 1 broken sessions remain, 2 a file could not be read or written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// Folders, session files, or ids of sessions (a part of an id is enough) [default: every session of every agent]
    #[arg(value_name = "DIR|FILE|SESSION")]
    what: Vec<PathBuf>,
    /// Repair the broken sessions
    #[arg(long)]
    fix: bool,
    /// Look at the sessions of this agent only, such as `claude` or `codex`
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Look at sessions that changed since a time, such as `12h`, `7d` or `2026-11-01`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Look for the default places of agents in this home folder
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Describe every broken session, not only the newest 20
    #[arg(long)]
    all: bool,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// List the agents, what Seamline does with their sessions, and where they keep them
    #[arg(long, conflicts_with_all = ["what", "fix", "since", "home", "all"])]
    list: bool,
    /// With `--fix`: write a session although an agent uses it; what the agent writes meanwhile may be lost
    #[arg(long, requires = "fix")]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  seamline doctor                           # look at every session
  seamline doctor --fix                     # repair the broken ones
  seamline doctor --agent claude --since 7d
  seamline doctor session.jsonl
  seamline doctor --list                    # agents and their places
  seamline doctor --format json | jq '.programs[] | {program, broken}'";

/// The most broken sessions that are described.
const SHOWN_MAX: usize = 20;

impl Doctor {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        self.refuse_unknown_agent()?;
        if self.list {
            let mut output = Output::new();
            output.text(&agents::list(self.format, |program| self.wants(program)));
            return Ok(output.finish(Exit::Clean));
        }
        let since = self.since()?;
        let mut search = Search::default();
        let mut ids = Vec::new();
        for what in &self.what {
            if what.is_dir() {
                search.add_all_below(what);
            } else if what.is_file() {
                search.add(Candidate::named(what));
            } else {
                ids.push(session_id(what)?);
            }
        }
        if self.what.is_empty() {
            search.add_places(self.home.as_deref(), |program| self.wants(program));
        } else if !ids.is_empty() {
            self.add_by_id(&mut search, &ids)?;
        }
        search.newest_first(since);
        let unreadable = std::mem::take(&mut search.unreadable);
        let (checkup, failures) = self.examine(&search.found, since, unreadable);
        Ok(self.report(&search, &checkup, &failures))
    }

    /// Examines files on all cores. The folders that cannot be read are failures, too.
    fn examine(
        &self,
        files: &[Candidate],
        since: Option<SystemTime>,
        unreadable: Vec<(PathBuf, Failure)>,
    ) -> (Checkup, Vec<(String, Failure)>) {
        let options = Options::default();
        let force = if self.force { Force::Yes } else { Force::No };
        let examination = Examination { options: &options, fix: self.fix, force, since };
        let mut checkup = Checkup::default();
        let mut failures: Vec<(String, Failure)> =
            unreadable.into_iter().map(|(folder, failure)| (folder.display().to_string(), failure)).collect();
        for (label, failure) in &failures {
            output::complain_about(label, failure);
        }
        let verb = if self.fix { "examining and repairing" } else { "examining" };
        let work = |file: &Candidate| (file.is_named, examination.examine(file));
        many::in_order(verb, files, work, |(is_named, all)| {
            for examined in all {
                match examined {
                    Examined::Session(session) if self.wants(session.program) || is_named => {
                        checkup.add(*session, is_named);
                    }
                    Examined::Unread(program) if self.wants(program) => {
                        checkup.programs.entry(program.name).or_default().unread += 1;
                    }
                    Examined::Session(_) | Examined::Unread(_) | Examined::Other => checkup.others += 1,
                    Examined::Failed(label, failure) => {
                        output::complain_about(&label, &failure);
                        failures.push((label, failure));
                    }
                }
            }
            ControlFlow::Continue(())
        });
        checkup.failed = failures.len();
        (checkup, failures)
    }

    fn report(&self, search: &Search, checkup: &Checkup, failures: &[(String, Failure)]) -> Exit {
        let mut output = Output::new();
        let total = checkup.total();
        match self.format {
            ListFormat::Json => {
                let searched: Vec<_> = search.searched.iter().map(|place| place.folder.display().to_string()).collect();
                output.text(&doctor::json(checkup, &searched, failures));
            }
            ListFormat::Text if checkup.programs.is_empty() && failures.is_empty() => output.text(&nothing(search)),
            ListFormat::Text if checkup.programs.is_empty() => {}
            ListFormat::Text => {
                let shown_max = if self.all { usize::MAX } else { SHOWN_MAX };
                let view = View { shown_max, fix: self.fix, remedy: &self.remedy(), now: SystemTime::now() };
                output.text(&doctor::text(checkup, view));
            }
        }
        let write_failed = checkup.shown.iter().any(has_failed);
        output.finish(match () {
            () if !failures.is_empty() || write_failed => Exit::Failed,
            () if total.broken > total.fixed => Exit::Findings,
            () => Exit::Clean,
        })
    }

    /// The command that repairs what this one found.
    fn remedy(&self) -> String {
        let mut words = vec!["seamline doctor".to_owned()];
        words.extend(self.what.iter().map(|what| crate::failure::quoted(&what.display().to_string())));
        for (option, value) in [("--agent", &self.agent), ("--since", &self.since)] {
            words.extend(value.as_ref().map(|value| format!("{option} {}", crate::failure::quoted(value))));
        }
        words.extend(
            self.home.as_ref().map(|home| format!("--home {}", crate::failure::quoted(&home.display().to_string()))),
        );
        words.push("--fix".to_owned());
        words.join(" ")
    }

    fn since(&self) -> Result<Option<SystemTime>, Failure> {
        let Some(text) = &self.since else { return Ok(None) };
        let since = time::parse(text, time::now()).ok_or_else(|| {
            Failure::new(format!("`--since {}` is not a time", screen::printable(text)))
                .with_hint("write an age such as `7d` or `12h`, or a date such as `2026-11-01`")
        })?;
        Ok(Some(UNIX_EPOCH + Duration::from_millis(since)))
    }

    /// Whether the sessions of a program were asked for.
    fn wants(&self, program: &Program) -> bool {
        self.agent.as_ref().is_none_or(|agent| has_words(program.name, agent))
    }

    fn refuse_unknown_agent(&self) -> Result<(), Failure> {
        let known = || ALL.iter().filter(|program| !program.places.is_empty());
        match &self.agent {
            Some(agent) if !known().any(|program| self.wants(program)) => {
                let names = agents::short_names();
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                let all = format!("the agents are `{}`", names.join("`, `"));
                Err(Failure::new(format!("no agent is called `{}`", screen::printable(agent)))
                    .with_hint(suggest::hint(agent, &names, &all)))
            }
            _ => Ok(()),
        }
    }

    /// Adds the sessions with these ids, or with a unique part of them.
    fn add_by_id(&self, search: &mut Search, ids: &[String]) -> Result<(), Failure> {
        let mut places = Search::default();
        places.add_places(self.home.as_deref(), |program| self.wants(program));
        search.searched.clone_from(&places.searched);
        for id in ids {
            let mut fitting = Vec::new();
            let mut files = Vec::new();
            for file in &places.found {
                match file.sessions_with(id) {
                    Some(sessions) => fitting.extend(sessions),
                    None => files.push(file.clone()),
                }
            }
            fitting.extend(files.iter().filter(|file| file.has_name(id)).cloned());
            if fitting.is_empty() {
                fitting = self.with_id(&files, id);
            }
            match fitting.as_slice() {
                [one] => search.add(Candidate { is_named: true, ..one.clone() }),
                [] => return Err(unknown(id, places.found.len())),
                several => return Err(ambiguous(id, several)),
            }
        }
        Ok(())
    }

    /// The files whose sessions have an id, where the names of the files do not tell.
    fn with_id(&self, files: &[Candidate], id: &str) -> Vec<Candidate> {
        let options = Options::default();
        let examination = Examination { options: &options, fix: false, force: Force::No, since: None };
        let mut fitting = Vec::new();
        let in_folder = |session: &Session| {
            // Some programs name only the folder of a session after it.
            let folder = session.path.parent().and_then(Path::file_name).unwrap_or_default();
            folder.to_string_lossy().to_lowercase().contains(&id.to_lowercase())
        };
        let has_id =
            |session: &Session| session.about.id.as_ref().is_some_and(|own| own.contains(id)) || in_folder(session);
        let fits = |examined: &Examined| match examined {
            Examined::Session(session) => has_id(session) && self.wants(session.program),
            Examined::Unread(_) | Examined::Other | Examined::Failed(..) => false,
        };
        let work = |file: &Candidate| examination.examine(file).iter().any(fits).then(|| file.clone());
        many::in_order("searching", files, work, |found| {
            fitting.extend(found);
            ControlFlow::Continue(())
        });
        fitting
    }
}

/// Whether a text is some of the words of a name, one behind the other: `claude` and `claude-code` of "Claude Code".
fn has_words(name: &str, text: &str) -> bool {
    let words: Vec<String> = name.split(|char: char| !char.is_alphanumeric()).map(plain).collect();
    let text = plain(text);
    let starts = |from: &[String]| (1..=from.len()).any(|count| from[..count].concat() == text);
    !text.is_empty() && (0..words.len()).any(|from| starts(&words[from..]))
}

/// A name in lower case, without blanks and hyphens.
fn plain(name: &str) -> String {
    name.to_lowercase().chars().filter(|char| char.is_alphanumeric()).collect()
}

/// The id of a session, unless the text is a path.
fn session_id(what: &Path) -> Result<String, Failure> {
    let text = what.display().to_string();
    let is_path = text.contains(['/', '\\']) || what.extension().is_some();
    if is_path || text.is_empty() {
        return Err(Failure::new(format!("{}: no such file or folder", screen::printable(&text))));
    }
    Ok(text)
}

fn unknown(id: &str, count: usize) -> Failure {
    let sessions = screen::count(count, "file");
    Failure::new(format!("no session has `{}` in its id; {sessions} were searched", screen::printable(id)))
        .with_hint("give the path of the file, or run `seamline doctor` to see where it looks")
}

/// The most sessions that are listed when an id fits several.
const FITTING_MAX: usize = 5;

fn ambiguous(id: &str, files: &[Candidate]) -> Failure {
    let shown = |file: &Candidate| match &file.session {
        Some(session) => format!("{session} in {}", doctor::shown_path(&file.path)),
        None => doctor::shown_path(&file.path),
    };
    let paths = files.iter().take(FITTING_MAX).map(shown);
    let more = if files.len() > FITTING_MAX { "\n  …" } else { "" };
    let count = screen::count(files.len(), "session");
    Failure::new(format!("`{}` is part of the ids of {count}", screen::printable(id)))
        .with_hint(format!("give more of the id:\n  {}{more}", paths.collect::<Vec<_>>().join("\n  ")))
}

/// Whether a repair of a session failed for another reason than that a program uses the file.
fn has_failed(session: &Session) -> bool {
    session.broken.as_ref().is_some_and(|broken| matches!(broken.fixed, Some(doctor::Fixed::Failed(_))))
}

/// Says where there are no sessions.
fn nothing(search: &Search) -> String {
    if search.searched.is_empty() {
        return "no sessions found\n".to_owned();
    }
    let mut rows: Vec<[String; 2]> = Vec::new();
    let mut last = "";
    for place in &search.searched {
        let name = if place.program == last { "" } else { place.program };
        rows.push([name.to_owned(), doctor::shown_path(&place.folder)]);
        last = place.program;
    }
    let table = table::render(&rows, [style::PLAIN, style::FAINT], usize::MAX);
    let lines: Vec<_> = table.lines().map(|line| format!("  {line}")).collect();
    format!("no sessions found; these places were searched:\n{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_named_by_whole_words() {
        for (name, text) in [
            ("pi or OpenClaw", "pi"),
            ("Claude Code", "claude"),
            ("Claude Code", "claude-code"),
            ("Claude Code", "claudecode"),
            ("Cline, Roo Code or Kilo Code", "Roo-Code"),
            ("swe-agent", "swe-agent"),
        ] {
            assert!(has_words(name, text), "{name}: {text}");
        }
        for (name, text) in [("Copilot CLI", "pi"), ("Claude Code", "cla"), ("Codex", "")] {
            assert!(!has_words(name, text), "{name}: {text}");
        }
    }
}
