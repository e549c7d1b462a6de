//! Repair of a file in place, and its undo.

use std::path::{Path, PathBuf};

use seamline::files::RepairedFile;
use serde::{Deserialize, Serialize};

use super::database::{self, DatabaseRecord};
use super::in_use;
use super::projections::{self, ProjectionRecord, Projections};
use super::replace::{self, Target};
use super::replace_session::NewSession;
use super::state::{Repairs, State};
use super::times::Times;
use super::{hash, hash_pieces};
use crate::failure::Failure;
use crate::time;

pub(super) const VERSION: u32 = 1;

/// The record of a repair of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(super) version: u32,
    /// The path of the file, as text; its hash finds the record.
    pub(crate) path: String,
    /// The hash of the bytes before the repair.
    pub(super) before: String,
    /// The hash of the bytes after the repair.
    pub(super) after: String,
    /// The time of the repair, as RFC 3339.
    pub(crate) time: String,
    /// The mode of the file, for a file that is removed later. Earlier versions did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<u32>,
    /// The data that only the repair of a session file needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<SessionRecord>,
    /// The data that only the repair of a database needs. An undo does not need the backup of the whole database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) database: Option<DatabaseRecord>,
}

/// The part of a record that only the repair of a session file has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionRecord {
    /// The times of the file before the repair.
    times: Option<Times>,
    /// The hash of the bytes that belong to no record and are no longer in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quarantine: Option<String>,
    /// The rows about the file that were removed from databases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    projections: Vec<ProjectionRecord>,
}

impl Record {
    /// The hashes of the bytes that an undo or a reader of the record needs.
    pub(super) fn needs(&self) -> impl Iterator<Item = &str> {
        let quarantine = self.session.as_ref().and_then(|session| session.quarantine.as_deref());
        let journals = self.database.as_ref().map(|database| database.journals.as_str());
        let projections = self.session.iter().flat_map(|session| &session.projections);
        let rows = projections.map(|projection| projection.journal.as_str());
        std::iter::once(self.before.as_str()).chain(quarantine).chain(journals).chain(rows)
    }

    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let record: Self =
            serde_json::from_str(text).map_err(|error| Failure::new(format!("the undo record is damaged: {error}")))?;
        if record.version != VERSION {
            return Err(Failure::new(format!("the undo record has version {}, not {VERSION}", record.version)));
        }
        Ok(record)
    }
}

/// Whether to overwrite a file that changed after its repair, or that a program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    No,
    Yes,
}

/// Stores the bytes of a file, then replaces them. If that fails, the file is unchanged.
pub(crate) fn repair(path: &Path, before: &[u8], after: &[&[u8]]) -> Result<(), Failure> {
    let state = State::find()?;
    let _shared = state.share()?;
    let target = Target::of(path)?;
    let record = Record::of(&target, state.keep(before)?, after);
    replace_recorded(&state, &target, &record, || target.replace(&record.before, after))
}

/// The repair of a session file.
pub(crate) struct SessionRepair<'a> {
    before: &'a [u8],
    after: &'a [u8],
    /// The bytes that belong to no record and are not in `after`, each part on a line of its own.
    quarantined: Vec<u8>,
    /// The times of the file before it was read.
    times: Option<Times>,
    force: Force,
}

impl<'a> SessionRepair<'a> {
    pub(crate) fn of(before: &'a [u8], repaired: &'a RepairedFile<'_>, times: Option<Times>, force: Force) -> Self {
        let parts: Vec<&[u8]> = repaired.quarantined.iter().map(|part| part.bytes.as_slice()).collect();
        Self { before, after: &repaired.bytes, quarantined: parts.join(&b'\n'), times, force }
    }

    /// A repair without bytes that belong to no record.
    pub(crate) fn new(before: &'a [u8], after: &'a [u8], times: Option<Times>, force: Force) -> Self {
        Self { before, after, quarantined: Vec::new(), times, force }
    }
}

/// As [`repair`], for the session file of a program. Returns the path of the quarantined bytes, if there are any.
pub(crate) fn repair_session(path: &Path, repair: &SessionRepair<'_>) -> Result<Option<PathBuf>, Failure> {
    if let (Force::No, Some(in_use)) = (repair.force, in_use::look(path)) {
        return Err(in_use.into());
    }
    let state = State::find()?;
    let _shared = state.share()?;
    let target = Target::of(path)?;
    let has_quarantine = !repair.quarantined.is_empty();
    let quarantine = has_quarantine.then(|| state.keep(&repair.quarantined)).transpose()?;
    let projections = Projections::of(&state, &target.path, (repair.before, repair.after))?;
    let pieces = [repair.after];
    let record = Record {
        session: Some(SessionRecord {
            times: repair.times,
            quarantine: quarantine.clone(),
            projections: projections.records.clone(),
        }),
        ..Record::of(&target, state.keep(repair.before)?, &pieces)
    };
    let new = NewSession { before: &record.before, pieces: &pieces, times: repair.times, force: repair.force };
    replace_recorded(&state, &target, &record, || projections.removed(|| target.replace_session(&new)))?;
    Ok(quarantine.map(|hash| state.object(&hash)))
}

impl Record {
    fn of(target: &Target, before: String, after: &[&[u8]]) -> Self {
        Self {
            version: VERSION,
            path: target.path.display().to_string(),
            before,
            after: hash_pieces(after),
            time: now(),
            mode: target.mode(),
            session: None,
            database: None,
        }
    }
}

/// Writes the record of a repair, then makes the repair.
fn replace_recorded(
    state: &State,
    target: &Target,
    record: &Record,
    replace: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::io("write the undo record", &error);
    let repairs = state.repairs_of(&target.path)?;
    let text = serde_json::to_string(record).map_err(|error| Failure::new(error.to_string()))?;
    let number = repairs.push(&text).map_err(failed)?;
    let replaced = replace();
    if replaced.is_err() {
        // `undo` skips the record of a repair that did not take place.
        let _ = repairs.remove(number);
    }
    replaced
}

/// The outcome of an undo.
#[derive(Debug)]
pub(crate) struct Undone {
    pub(crate) record: Record,
    /// The number of repairs that can still be undone.
    pub(crate) left: usize,
    /// The path of the overwritten bytes, if the repair did not write them.
    pub(crate) overwritten: Option<PathBuf>,
}

/// Restores the bytes that the last repair of a file replaced.
pub(crate) fn undo(path: &Path, force: Force) -> Result<Undone, Failure> {
    let real = real(path)?;
    let state = State::find()?;
    if !state.has_repairs_of(&real) {
        return Err(unknown());
    }
    let _shared = state.share()?;
    let repairs = state.repairs_of(&real)?;
    if database::has_records(&repairs)? {
        return database::undo(&state, &repairs, &real, force);
    }
    let current = std::fs::read(&real).ok();
    let current_hash = current.as_deref().map(hash);
    let (number, record) = last(&repairs, current_hash.as_deref())?;
    let bytes = state.get(&record.before)?;
    let is_as_written = current_hash.as_ref() == Some(&record.after);
    let overwritten = match (is_as_written, force, &current) {
        (true, _, _) | (false, Force::Yes, None) => None,
        (false, Force::No, _) => return Err(refused(&record, current.is_some())),
        (false, Force::Yes, Some(current)) => Some(state.object(&state.keep(current)?)),
    };
    let times = record.session.as_ref().and_then(|session| session.times);
    let rows = record.session.as_ref().map_or(&[][..], |session| &session.projections);
    projections::restored(&state, rows, || match (current_hash, &record.session) {
        (Some(before), None) => Target::of(&real)?.replace(&before, &[&bytes]),
        (Some(before), Some(_)) => {
            if let (Force::No, Some(in_use)) = (force, in_use::look(&real)) {
                return Err(in_use.into());
            }
            let new = NewSession { before: &before, pieces: &[&bytes], times, force };
            Target::of(&real)?.replace_session(&new)
        }
        (None, _) => replace::restore(&real, &bytes, record.mode, times),
    })?;
    let failed = |error: std::io::Error| Failure::io("remove the undo record", &error);
    repairs.remove(number).map_err(failed)?;
    let left = repairs.numbers().map_err(failed)?.len();
    Ok(Undone { record, left, overwritten })
}

/// Whether a repair of a file can be undone.
pub(crate) fn is_repaired(path: &Path) -> bool {
    let has_repairs = |real: PathBuf| State::find().is_ok_and(|state| state.has_repairs_of(&real));
    real(path).is_ok_and(has_repairs)
}

/// The repaired files below a folder.
pub(crate) fn repaired_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let records = list(&[folder.to_owned()])?;
    let files: std::collections::BTreeSet<_> = records.into_iter().map(|record| PathBuf::from(record.path)).collect();
    Ok(files.into_iter().collect())
}

/// The repairs that can be undone, oldest first: of these files, of those below these folders, or of all files.
pub(crate) fn list(paths: &[PathBuf]) -> Result<Vec<Record>, Failure> {
    let real = paths.iter().map(|path| real(path)).collect::<Result<Vec<_>, _>>()?;
    let texts = State::find()?.records().map_err(|error| Failure::io("read the undo records", &error))?;
    let mut records = texts.iter().map(|text| Record::read(text)).collect::<Result<Vec<_>, _>>()?;
    records.retain(|record| real.is_empty() || real.iter().any(|path| Path::new(&record.path).starts_with(path)));
    // Repairs within one second keep the order of their numbers.
    records.sort_by(|one, other| one.time.cmp(&other.time));
    Ok(records)
}

/// Finds the last repair that took place, and removes the records of repairs that a crash prevented.
fn last(repairs: &Repairs, current: Option<&str>) -> Result<(u64, Record), Failure> {
    let failed = |error: std::io::Error| Failure::io("read the undo records", &error);
    let mut numbers = repairs.numbers().map_err(failed)?;
    while let Some(number) = numbers.pop() {
        let text = repairs.read(number).map_err(failed)?;
        let record = Record::read(&text)?;
        let took_place = current != Some(&record.before) || record.before == record.after;
        if took_place {
            return Ok((number, record));
        }
        repairs.remove(number).map_err(failed)?;
    }
    Err(unknown())
}

pub(super) fn unknown() -> Failure {
    Failure::new("no repair of this file is known").with_hint("only repairs in place can be undone")
}

pub(super) fn refused(record: &Record, is_there: bool) -> Failure {
    let what = if is_there {
        format!("it was changed after the repair of {}", record.time)
    } else {
        format!("it is gone; it was repaired at {}", record.time)
    };
    Failure::new(format!("not undone: {what}"))
        .with_hint("`--force` restores the old bytes and keeps a copy of the current ones")
}

/// The file or folder behind all links; for a missing file, its path in its folder.
fn real(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |error: std::io::Error| Failure::io("find it", &error);
    if let Ok(real) = path.canonicalize() {
        return Ok(real);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().map_err(failed)?;
    let name = path.file_name().ok_or_else(|| Failure::new("not the path of a file"))?;
    Ok(folder.join(name))
}

pub(super) fn now() -> String {
    time::of_ms(time::now())
}
