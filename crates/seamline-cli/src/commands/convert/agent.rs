//! A conversation as a new session of another agent.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use seamline::convert::ConvertOptions;
use seamline::files::{EXPORTERS, ExportOptions, ExportedSession, Exporter, SavedConversation, exporter};

use super::subject::Subject;
use super::{Convert, project, write};
use crate::exit::Exit;
use crate::failure::{Failure, quoted};
use crate::files::places;
use crate::input::Source;
use crate::output::{self, Output};
use crate::render::Counts;
use crate::render::conversion::{self, NewFile, Way};
use crate::{screen, suggest, time};

impl Convert {
    /// Writes the conversation as a session of an agent.
    pub(super) fn export(
        &self,
        agent: &str,
        subject: Subject,
        source: &Source,
        options: ConvertOptions,
    ) -> Result<Exit, Failure> {
        let exporter = named(agent)?;
        let saved = match subject {
            Subject::Saved(saved) => *saved,
            Subject::Body(body) => {
                SavedConversation::of_request(&body).map_err(|error| super::refused(error, &body))?
            }
        };
        if saved.messages == 0 {
            return Err(Failure::new("the session has no messages"));
        }
        let time_ms = i64::try_from(time_of(source)).unwrap_or_default();
        let folder = self.folder(&saved)?;
        let exported = saved.export(exporter, &ExportOptions { folder, time_ms, convert: options })?;
        let label = source.label();
        let from = saved.program.map(|program| program.name);
        let file = self.place(&exported)?;
        let way = Way { from, to: Some(exporter.program.name), file: Some(&file) };
        if let Some(path) = &self.report {
            super::write_report(path, &conversion::json(&label, &exported.converted, &way), source)?;
        }
        self.tell_session(source, &exported, &way)
    }

    /// The folder that the agent is to work in: the named one, that of the session, or the current one.
    fn folder(&self, saved: &SavedConversation) -> Result<Option<String>, Failure> {
        if self.folder.is_none() && saved.about.folder.is_some() {
            return Ok(None);
        }
        let path = self.folder.clone().unwrap_or_else(|| PathBuf::from("."));
        let real = std::fs::canonicalize(&path).or_else(|_| std::path::absolute(&path));
        let real = real.map_err(|error| Failure::io("find the folder", &error))?;
        Ok(Some(real.display().to_string()))
    }

    /// Where the new session is, or has to be.
    fn place(&self, exported: &ExportedSession) -> Result<NewFile, Failure> {
        let no_home = || Failure::new("the home folder is not known").with_hint("`--output FILE` writes it elsewhere");
        let place = exported.exporter.program.places.first().ok_or_else(no_home)?;
        let start = places::start(place, None);
        let folder = match start {
            Some(start) => start,
            None if self.install => return Err(no_home()),
            None => PathBuf::from("~").join(place.home),
        };
        let mut folder = places::below(folder, place.path);
        if let (Some(name), Some(root)) = (&exported.project, &exported.about.folder) {
            folder = project::folder(&folder, name, exported.exporter, root);
        }
        let place = places::below(folder, &exported.path);
        let path = self.output.clone().unwrap_or_else(|| place.clone());
        let command = exported.resume.as_ref().map(|command| {
            let command = command.replace("{FILE}", &quoted(&path.display().to_string()));
            match &exported.about.folder {
                Some(folder) => format!("cd {} && {command}", quoted(folder)),
                None => command,
            }
        });
        Ok(NewFile {
            agent: exported.exporter.name,
            id: exported.about.id.clone().unwrap_or_default(),
            place,
            resume: command,
            is_installed: self.install,
        })
    }

    fn tell_session(&self, source: &Source, exported: &ExportedSession, way: &Way<'_>) -> Result<Exit, Failure> {
        let label = source.label();
        output::say_note(&label, exported.converted.note.as_deref());
        let told = |width| self.told(&label, &exported.converted, way, width);
        let mut out = Output::new();
        match (&self.output, way.file) {
            _ if self.dry_run => out.text(&told(screen::width())),
            (None, Some(file)) if self.install => {
                install(&file.place, exported.text.as_bytes(), source)?;
                project::mark(&file.place, exported)?;
                out.text(&told(screen::width()));
            }
            (Some(path), _) => {
                write(path, exported.text.as_bytes(), source)?;
                out.text(&told(screen::width()));
            }
            (None, _) => {
                out.bytes(exported.text.as_bytes());
                output::say(&told(screen::width_aside()));
            }
        }
        let is_wrong =
            [&exported.converted.remaining, &exported.findings].iter().any(|list| Counts::of(list).is_wrong());
        Ok(out.finish(if is_wrong { Exit::Findings } else { Exit::Clean }))
    }
}

/// The agent with a name.
fn named(name: &str) -> Result<&'static Exporter, Failure> {
    exporter(name).ok_or_else(|| {
        let names: Vec<_> = EXPORTERS.iter().map(|exporter| exporter.name).collect();
        let all = format!("sessions can be written for {}", names.join(", "));
        Failure::new(format!("no session can be written for `{name}`")).with_hint(suggest::hint(name, &names, &all))
    })
}

/// The time of a source that does not tell one: that of its file.
fn time_of(source: &Source) -> u64 {
    let modified = source.path().and_then(|path| path.metadata().and_then(|found| found.modified()).ok());
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or_else(time::now, |since| u64::try_from(since.as_millis()).unwrap_or_default())
}

/// Writes the session to the place where its program looks. It never replaces another file.
fn install(path: &Path, bytes: &[u8], source: &Source) -> Result<(), Failure> {
    match std::fs::read(path) {
        Ok(there) if there == bytes => return Ok(()),
        Ok(_) => {
            return Err(Failure::new(format!("{} exists and has other content", path.display()))
                .with_hint("the program may have continued that session; `--output FILE` writes a copy elsewhere"));
        }
        Err(_) => {}
    }
    if let Some(folder) = path.parent() {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| Failure::io(&format!("create {}", folder.display()), &error))?;
    }
    write(path, bytes, source)
}
