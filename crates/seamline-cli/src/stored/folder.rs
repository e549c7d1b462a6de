//! Sessions that are spread over the files of a folder.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use seamline::Options;
use seamline::files::folder::{self, FolderEntry, FolderLayout, FolderSession};
use seamline::files::{Salvaged, SavedConversation};

use super::{CheckedStored, PlannedWrite, RecordChange, RepairedStored, StoredSession};
use crate::failure::{Failure, quoted};
use crate::files::in_use::{self, InUse};
use crate::files::times::Times;
use crate::files::undo::{self, Force, SessionRepair};
use crate::render::record::Record;

/// Whether a folder holds sessions that are spread over its files.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir() && folder::find(path, &list).is_some()
}

/// The sessions of a folder, the last changed one first; nothing if the path is something else.
pub(super) fn open(path: &Path) -> Option<(&'static FolderLayout, Vec<StoredSession>)> {
    if !path.is_dir() {
        return None;
    }
    let (layout, found) = folder::find(path, &list)?;
    let modified = |path: &PathBuf| path.metadata().and_then(|found| found.modified()).ok();
    let session = |session: FolderSession| StoredSession {
        id: session.id,
        modified: session.files.iter().filter_map(modified).max(),
        row: None,
        files: session.files,
    };
    let mut sessions: Vec<_> = found.into_iter().map(session).collect();
    sessions.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.id.cmp(&other.id)));
    Some((layout, sessions))
}

/// The entries of a folder in the order of their names.
fn list(folder: &Path) -> Vec<FolderEntry> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let entry = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some(FolderEntry { name, is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()) })
    };
    let mut entries: Vec<_> = entries.filter_map(entry).collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries
}

/// Explains that a file is a part of a session, and which folder to pass.
pub(crate) fn failure_of_part(path: Option<&Path>, head: &[u8]) -> Option<Failure> {
    let (layout, folder) = folder::part_of(path.unwrap_or(Path::new("")), head)?;
    let folder = folder.filter(|folder| is_folder(folder));
    let hint = match folder {
        Some(folder) => format!("pass the folder: `seamline check {}`", quoted(&folder.display().to_string())),
        None => "pass the folder of the session".to_owned(),
    };
    let program = layout.program.name;
    let message = format!("this is one record of a session of {program}, which is spread over the files of a folder");
    Some(Failure::new(message).with_hint(hint))
}

/// The bytes of the files of a session.
fn read(session: &StoredSession) -> Result<Vec<Vec<u8>>, Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        let failure = Failure::io("read", &error);
        Failure { message: format!("{}: {}", path.display(), failure.message), ..failure }
    };
    session.files.iter().map(|path| std::fs::read(path).map_err(|error| failed(path, error))).collect()
}

fn texts(files: &[Vec<u8>]) -> Vec<String> {
    files.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

fn records(session: &StoredSession) -> Vec<Record> {
    session.files.iter().map(|path| Record { file: path.display().to_string(), row: None }).collect()
}

pub(super) fn check(
    layout: &FolderLayout,
    session: &StoredSession,
    options: &Options,
) -> Result<CheckedStored, Failure> {
    let mut checked = folder::check(layout, &texts(&read(session)?), options)?;
    checked.findings.extend(folder::gap(layout, &session.files));
    Ok(CheckedStored { checked, records: records(session) })
}

pub(super) fn conversation(
    layout: &FolderLayout,
    session: &StoredSession,
    options: &Options,
) -> Result<SavedConversation, Failure> {
    Ok(folder::conversation(layout, &texts(&read(session)?), options)?)
}

pub(super) fn salvage(
    layout: &FolderLayout,
    session: &StoredSession,
    options: &Options,
) -> Result<Salvaged<'static>, Failure> {
    Ok(folder::salvage(layout, &texts(&read(session)?), options)?)
}

pub(super) fn repair(
    layout: &FolderLayout,
    session: &StoredSession,
    options: &Options,
) -> Result<RepairedStored, Failure> {
    let times = |path: &PathBuf| path.metadata().ok().and_then(|found| Times::of(&found));
    let times: Vec<_> = session.files.iter().map(times).collect();
    let before = read(session)?;
    let texts = texts(&before);
    let mut done = folder::repair(layout, &texts, options)?;
    // A file that is missing stays missing.
    let gap = folder::gap(layout, &session.files);
    done.repaired.found.extend(gap.clone());
    done.repaired.remaining.extend(gap);
    let records = records(session);
    let mut new = Vec::new();
    let mut changes = Vec::new();
    for (index, text) in done.changed {
        let place = records.get(index).map(|record| record.short().to_owned());
        let old = texts.get(index).map(|text| text.trim().to_owned());
        changes.push(RecordChange { place, before: old, after: Some(text.clone()) });
        let (Some(path), Some(before)) = (session.files.get(index), before.get(index)) else { continue };
        // A file keeps the newline at its end.
        let end: &[u8] = if before.ends_with(b"\n") { b"\n" } else { b"" };
        let after = [text.as_bytes(), end].concat();
        let times = times.get(index).copied().flatten();
        new.push(NewFile { path: path.clone(), before: before.clone(), after, times });
    }
    let files = NewFiles { all: session.files.clone(), new };
    Ok(RepairedStored { repaired: done.repaired, records, changes, write: PlannedWrite::Files(files) })
}

/// The files that a repair of a session writes.
pub(super) struct NewFiles {
    /// All files of the session.
    all: Vec<PathBuf>,
    new: Vec<NewFile>,
}

struct NewFile {
    path: PathBuf,
    before: Vec<u8>,
    after: Vec<u8>,
    times: Option<Times>,
}

impl NewFiles {
    /// Whether a program uses the session: one of its files changed a moment ago, or one that is to be written is open.
    pub(super) fn in_use(&self) -> Option<InUse> {
        let now = SystemTime::now();
        let recent = self.all.iter().find_map(|path| in_use::changed_lately(&path.metadata().ok()?, now));
        recent.or_else(|| self.new.iter().find_map(|file| in_use::look(&file.path)))
    }
}

/// Writes the files of sessions, each atomically. If one cannot be written, the others get their old bytes again.
pub(super) fn write<'f>(sessions: impl Iterator<Item = &'f NewFiles>, force: Force) -> Result<(), Failure> {
    let mut written: Vec<&Path> = Vec::new();
    for file in sessions.flat_map(|session| &session.new) {
        let repair = SessionRepair::new(&file.before, &file.after, file.times, force);
        if let Err(failure) = undo::repair_session(&file.path, &repair) {
            for path in written.iter().rev() {
                undo::undo(path, force)?;
            }
            let message = format!("{}: {}", file.path.display(), failure.message);
            return Err(Failure { message, ..failure });
        }
        written.push(&file.path);
    }
    Ok(())
}
