//! `seamline watch`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use seamline::files::{CheckedFile, SessionHealth, Writing};

use crate::args::{ListFormat, SubjectArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Source;
use crate::output::Output;
use crate::render::record::Record;
use crate::render::watch::{self, Event};
use crate::stored::Store;

/// The longest time between two looks at the interruption of the user.
const NAP: Duration = Duration::from_millis(50);
/// A look at a long file takes time. It takes at most this part of all time.
const REST_FACTOR: u32 = 4;

/// Follow a live session file and report as it breaks
///
/// Looks at a session file whenever it changes, and prints one line for each violation that is new and one when it is gone.
/// The file may grow, be rewritten, be replaced or be cut; databases are read with their log. It only reads.
///
/// An open tool call at the end of the session is normal: the tool runs. A torn last line counts when the program has stopped
/// writing.
///
/// It continues until it is interrupted with Ctrl-C. As JSON it prints one object per line, with `version`, `time`, `path`,
/// `event` (`watching`, `broken`, `healed`, `gone`, `unreadable`) and the `finding`.
///
/// Exit status: 0 the session is healthy, 1 it is broken, 2 it could not be read at the start.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Watch {
    /// A session file, or a database or folder with sessions
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The session of a database or folder: its id, or a part of it [default: the last changed one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// How often to look for changes, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(10..))]
    interval: u64,
    /// Look once, as if the program had stopped writing, and end
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    subject: SubjectArgs,
    /// The format of the report; JSON is one object per line
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

const EXAMPLES: &str = "\
Examples:
  seamline watch session.jsonl
  seamline watch session.jsonl --format json
  seamline watch goose.db --session 20260102_1
  seamline watch session.jsonl --once         # is it healthy now?";

impl Watch {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let label = self.path.display().to_string();
        let about = |failure: Failure| Failure { message: format!("{label}: {}", failure.message), ..failure };
        let stop = Arc::new(AtomicBool::new(false));
        if !self.once {
            for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
                let registered = signal_hook::flag::register(signal, Arc::clone(&stop));
                registered.map_err(|error| Failure::io("wait for Ctrl-C", &error))?;
            }
        }
        let mut session = Live { watch: self, stamp: Stamp::default(), chosen: None, records: Vec::new() };
        session.stamp = session.stamp_now();
        let checked = session.look().map_err(about)?;
        let mut out = Output::new();
        let mut health = SessionHealth::default();
        self.tell(&mut out, (&label, &session.records), &Event::Watching(&checked));
        let writing = if self.once { Writing::Ended } else { Writing::Possible };
        for change in health.update(&checked, writing) {
            self.tell(&mut out, (&label, &session.records), &Event::of(&change));
        }
        drop(checked);
        if !self.once {
            self.follow(&mut session, &mut health, &mut out, &stop);
        }
        let exit = if health.is_healthy() { Exit::Clean } else { Exit::Findings };
        Ok(out.finish(exit))
    }

    fn follow(&self, session: &mut Live<'_>, health: &mut SessionHealth, out: &mut Output, stop: &AtomicBool) {
        let label = self.path.display().to_string();
        let mut pause = Duration::from_millis(self.interval);
        let mut is_lost = false;
        while wait(pause, stop) && !out.is_gone() {
            let now = session.stamp_now();
            let writing = if now == session.stamp { Writing::Ended } else { Writing::Possible };
            if writing == Writing::Ended && !health.is_unfinished() {
                continue;
            }
            session.stamp = now;
            let began = Instant::now();
            let looked = session.look();
            pause = Duration::from_millis(self.interval).max(began.elapsed() * REST_FACTOR);
            match looked {
                Ok(checked) => {
                    is_lost = false;
                    for change in health.update(&checked, writing) {
                        self.tell(out, (&label, &session.records), &Event::of(&change));
                    }
                }
                // The program may be replacing the file at this moment.
                Err(failure) if !is_lost => {
                    is_lost = true;
                    let is_gone = !self.path.exists();
                    self.tell(out, (&label, &[]), &if is_gone { Event::Gone } else { Event::Unreadable(&failure) });
                }
                Err(_) => {}
            }
        }
    }

    fn tell(&self, out: &mut Output, (label, records): (&str, &[Record]), event: &Event<'_>) {
        match self.format {
            ListFormat::Text => out.text(&watch::text(label, event, records)),
            ListFormat::Json => out.text(&watch::json(label, event)),
        }
        out.flush();
    }
}

/// A session that is followed.
struct Live<'w> {
    watch: &'w Watch,
    stamp: Stamp,
    /// The session of a database or folder that is followed, which stays the same.
    chosen: Option<String>,
    /// The records of a session that is not one file.
    records: Vec<Record>,
}

impl Live<'_> {
    /// The id of the session, or a part of it; nothing if it is not known yet.
    fn named(&self) -> Option<&str> {
        self.chosen.as_deref().or(self.watch.session.as_deref())
    }

    /// The stamp of the session at this moment.
    fn stamp_now(&self) -> Stamp {
        let path = &self.watch.path;
        if !path.is_dir() {
            return Stamp::of(path);
        }
        let newest = Store::at(path).ok().flatten().and_then(|store| store.newest(self.named()).ok());
        Stamp::of_files(newest.map(|session| session.files).as_deref().unwrap_or_default())
    }

    /// Reads and checks the session.
    fn look(&mut self) -> Result<CheckedFile, Failure> {
        let path = &self.watch.path;
        let options = self.watch.subject.options()?;
        if let Some(store) = Store::at(path)? {
            let session = store.newest(self.named())?;
            let found = store.check(&session, &options)?.ok_or_else(|| Store::is_gone(&session))?;
            (self.chosen, self.records) = (Some(session.id), found.records);
            return Ok(found.checked);
        }
        if self.watch.session.is_some() {
            return Err(Store::has_one_session());
        }
        let source = Source::Path(path.clone());
        let opened = source.open()?;
        let program = opened.program();
        let checked = seamline::files::check(&source.name(), &mut opened.into_reader(), &options)?;
        checked.ok_or_else(|| match program {
            Some(program) => Failure::of_file(&source, program),
            None => Failure::new("this is not a session file of a program that Seamline reads")
                .with_hint("`seamline doctor --list` lists the programs; `seamline check` checks a request body"),
        })
    }
}

/// The signs of a change: the times, lengths and identities of the file and of a database's log.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stamp(Vec<Option<(u64, Option<SystemTime>, u64)>>);

impl Stamp {
    fn of(path: &Path) -> Self {
        let beside = |ending: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        Self::of_files(&[path.to_owned(), beside("-wal")])
    }

    fn of_files(files: &[PathBuf]) -> Self {
        Self(files.iter().map(|path| one(path)).collect())
    }
}

fn one(path: &Path) -> Option<(u64, Option<SystemTime>, u64)> {
    let found = path.metadata().ok()?;
    Some((found.len(), found.modified().ok(), identity(&found)))
}

#[cfg(unix)]
fn identity(found: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> u64 {
    0
}

/// Waits. Returns whether the user wants to continue.
fn wait(pause: Duration, stop: &AtomicBool) -> bool {
    let end = Instant::now() + pause;
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(NAP));
    }
}
